"""Inversions and certainty.

Where does the machine prefer the answer that people reject, and would other nuggets, too?
"""

from collections import Counter
from collections.abc import Sequence

from nuggetstream.figures.charts import (
    BLUE,
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    names_axis,
    offset,
    rows_height,
    share_axis,
    share_marks,
    trace,
    vertical_line,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, part_of, percent, percent_interval
from nuggetstream.report.blocks import BattleLink, Block, Figures, Notice, NotMeasured, Table
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.report.numbers.certainty import CERTAIN, RESAMPLES, Band, Certainty, compute_certainty
from nuggetstream.report.numbers.inversions import EXAMPLES, Inversions, Inverted, Slice, compute_inversions
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import FEW_NOTE, NO_PREFERENCE, dimension_name, share_of

_SHOWN = 25  # slices in the figure; the table and report.json have them all
_ROW = 44
_QUERY = 160  # characters of a query that are shown
_BINS = 20


def draw_inversions(inverted: Inversions) -> Content:
    """Rates with intervals, all slices in a table."""
    blocks: list[Block] = []
    shown = [part for part in inverted.slices if any(x.value is not None for x in part.inverted.values())]
    if shown:
        blocks.append(Figures.of(_chart(shown[:_SHOWN])))
    if inverted.slices:
        blocks.append(_inversions_table(inverted))
    else:
        blocks.append(NotMeasured("inversions", NO_PREFERENCE))
    if inverted.examples:
        blocks.append(_battles(inverted.examples))
    if inverted.slices and not inverted.has_categories:
        blocks.append(NotMeasured("inversions by category", "no battle has a “category:” tag"))
    return Content(
        findings=_inversions_findings(inverted),
        reading="An inversion is a battle in which people prefer one answer and the machine the other. The "
        "rate is the share of inversions among the battles in which both prefer an answer; ties are left "
        "out. Lines are 95% Wilson intervals. “Of all” counts ties and “both bad” among the battles, as "
        "published rates of inversions do. Look at the battles of a slice whose interval lies apart from "
        "the others.",
        basis=part_of(inverted.labelled, inverted.received, "battles"),
        blocks=tuple(blocks),
    )


def _inversions_findings(inverted: Inversions) -> tuple[str, ...]:
    if not inverted.slices or inverted.dimension is None:
        return ()
    rates = [
        f"the {lens} lens inverts {share_of(rate, 'the decisions')}"
        for lens, rate in inverted.slices[0].inverted.items()
        if rate.value is not None
    ]
    if not rates:
        return ()
    return (f"On {dimension_name(inverted.dimension)}, {' and '.join(rates)}.",)


def _inversions_name(part: Slice) -> str:
    return part.name if part.by == "all" else f"{part.by}: {part.name}"


def _chart(shown: Sequence[Slice]) -> Figure:
    traces = [
        share_marks(
            f"{lens} lens",
            [
                (row + offset(index, len(AUTOMATIC), 0.3), part.inverted[lens])
                for row, part in enumerate(shown)
            ],
            LENS_COLOURS[lens],
            LENS_SYMBOLS[lens],
        )
        for index, lens in enumerate(AUTOMATIC)
    ]
    most = max(rate.high for part in shown for rate in part.inverted.values() if rate.high is not None)
    return figure(
        "Inversion rate",
        alt="; ".join(
            f"{_inversions_name(part)}: "
            + ", ".join(f"{lens} {share_of(rate)}" for lens, rate in part.inverted.items())
            for part in shown
        ),
        traces=traces,
        height=rows_height(len(shown), _ROW),
        layout={
            "yaxis": names_axis([_inversions_name(part) for part in shown]),
            "xaxis": share_axis("inverted, of battles decided by both", range=[-0.03 * most, 1.05 * most]),
        },
    )


def _inversions_table(inverted: Inversions) -> Table:
    rows = []
    for part in inverted.slices:
        cells: list[str] = []
        for lens, rate in part.inverted.items():
            cells += (share_of(rate), percent_interval(rate.low, rate.high), share_of(part.of_all[lens]))
        rows.append((_inversions_name(part), integer(part.battles), *cells))
    per_lens = [head for lens in AUTOMATIC for head in (f"{lens} inversions", "95% interval", "of all")]
    return Table(
        caption="All slices",
        columns=("slice", "battles", *per_lens),
        rows=rows,
        note=FEW_NOTE,
        folded=len(rows) > 12,
    )


def _battles(examples: Sequence[Inverted]) -> Table:
    rows = [
        (
            BattleLink(example.battle, example.query[:_QUERY]),
            example.battle,
            example.human,
            " and ".join(example.by),
        )
        for example in examples
    ]
    return Table(
        caption="Inverted battles",
        columns=("query", "battle", "people prefer", "inverted by"),
        rows=rows,
        note=f"The first {EXAMPLES}." if len(rows) == EXAMPLES else None,
        text_columns=(1, 2, 3),
        folded=True,
    )


def draw_certainty(certainty: Certainty) -> Content:
    """A histogram of certainty, and agreement with people by certainty."""
    blocks: list[Block] = []
    if certainty.battles:
        charts = [_histogram(certainty)]
        if any(band.agree.value is not None for band in certainty.bands):
            charts.append(_bands(certainty))
        blocks += [Figures.of(*charts), _certainty_table(certainty)]
    else:
        blocks.append(NotMeasured("certainty of a preference", "no battle has two labelled nuggets"))
    if certainty.battles and certainty.dimension is None:
        blocks.append(NotMeasured("agreement by certainty", NO_PREFERENCE))
    left_out = (
        (certainty.few_nuggets, "fewer than two nuggets"),
        (certainty.unlabelled, "a nugget without a label"),
    )
    for count, reason in left_out:
        if count:
            part = part_of(count, certainty.scored, "scored battles")
            blocks.append(Notice(f"{part} have {reason}, and therefore no probability."))
    return Content(
        findings=_certainty_findings(certainty),
        reading="The nuggets of a battle are a sample of what a good answer needs. They are resampled "
        f"{integer(RESAMPLES)} times per battle; certainty is the share of samples with the most likely "
        "outcome (A, tie or B). It tells how much the choice of nuggets matters, not whether the nuggets "
        "or their labels are right: agreement with people by certainty tells that. report.json has all "
        "three probabilities of each battle.",
        basis=part_of(len(certainty.battles), certainty.received, "battles"),
        blocks=tuple(blocks),
    )


def _certainty_findings(certainty: Certainty) -> tuple[str, ...]:
    if certainty.sure.value is None:
        return ()
    findings = [
        f"{share_of(certainty.sure, 'the preferences')} have a certainty of at least {percent(CERTAIN, 0)}."
    ]
    top = certainty.bands[-1]
    if certainty.dimension is not None and top.agree.value is not None:
        findings.append(
            f"Where certainty is above {percent(top.low, 0)}, people make the same decision in "
            f"{share_of(top.agree, 'the battles')}."
        )
    return tuple(findings)


def _histogram(certainty: Certainty) -> Figure:
    counts = Counter(min(int(battle.certainty * _BINS), _BINS - 1) for battle in certainty.battles)
    bins = range(min(counts), _BINS)
    bars = trace(
        "bar",
        x=[(index + 0.5) / _BINS for index in bins],
        y=[counts[index] for index in bins],
        width=0.9 / _BINS,
        marker={"color": BLUE},
        hovertemplate="%{y} battles around %{x:.0%}<extra></extra>",
    )
    return figure(
        "Certainty of the nugget preference",
        alt="; ".join(
            f"{percent(index / _BINS, 0)} to {percent((index + 1) / _BINS, 0)}: {counts[index]} battles"
            for index in bins
        ),
        traces=[bars],
        height=300,
        layout={
            "xaxis": {"title": {"text": "probability of the most likely outcome"}, "tickformat": ".0%"},
            "yaxis": {"title": {"text": "battles"}},
        },
    )


def _certainty_name(band: Band) -> str:
    return f"{percent(band.low, 0)} to {percent(band.high, 0)} certain"


def _bands(certainty: Certainty) -> Figure:
    measured = [band for band in certainty.bands if band.agree.value is not None]
    rows = [(float(row), band.agree) for row, band in enumerate(measured)]
    marks = share_marks("agreement", rows, BLUE, "diamond", "<extra></extra>")
    return figure(
        f"Agreement by certainty: {dimension_name(certainty.dimension or '')}",
        alt="; ".join(f"{_certainty_name(band)}: {share_of(band.agree)}" for band in measured),
        traces=[marks],
        height=max(300, rows_height(len(measured), 44)),
        layout={
            "yaxis": names_axis([_certainty_name(band) for band in measured]),
            "xaxis": share_axis("agreement where both decide", range=[-0.02, 1.02]),
            "shapes": [vertical_line(0.5)],
        },
    )


def _certainty_table(certainty: Certainty) -> Table:
    return Table(
        caption="By certainty",
        columns=("certainty", "battles", "agrees with people", "95% interval"),
        rows=[
            (
                _certainty_name(band),
                part_of(band.battles, len(certainty.battles)),
                share_of(band.agree),
                percent_interval(band.agree.low, band.agree.high),
            )
            for band in certainty.bands
        ],
        note="Agreement in battles where people and the most likely outcome both prefer an answer. "
        f"{FEW_NOTE}",
        folded=True,
    )


SECTION = Section(
    name="inversions",
    title="Inversions and certainty",
    question="Where does the machine prefer the answer that people reject, and would other nuggets, too?",
    parts=(
        Part("inversions", compute_inversions, draw_inversions),
        Part("certainty", compute_certainty, draw_certainty),
    ),
)
