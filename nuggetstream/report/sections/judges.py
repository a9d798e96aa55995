"""The judges, audited.

Do verdicts depend on order, length or family, and are probabilities meant?
"""

from collections.abc import Sequence

from nuggetstream.figures.charts import (
    GREEN,
    GREY,
    curve,
    figure,
    names_axis,
    rows_height,
    share_axis,
    share_marks,
    trace,
    vertical_line,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import number, part_of, percent, percent_interval
from nuggetstream.report.blocks import Block, Figures, Notice, NotMeasured, Table
from nuggetstream.report.numbers.calibration import JudgeCalibration, compute_calibration
from nuggetstream.report.numbers.judge import Audit, compute_judge
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import FEW_NOTE, and_list, dimension_name, few_mark, share_of
from nuggetstream.statistics.share import Share

_AXIS = [0.0, 1.0]


def draw_judge(audits: Sequence[Audit]) -> Content:
    """Flips, ties and the biases a judge should not have."""
    blocks: list[Block] = (
        [] if audits else [NotMeasured("audit of the judge", "no battle has a judge's verdict")]
    )
    charts = {f"{audit.evaluator}, {audit.model}": (_chart(audit),) for audit in audits}
    if charts:
        blocks.append(Figures("Judge" if len(charts) > 1 else "", charts))
    blocks += [*map(_judge_table, audits), *_not_measured(audits), *_which_speaks(audits)]
    judged = (f"{counts.evaluator} {part_of(counts.judged, counts.received, 'battles')}" for counts in audits)
    return Content(
        findings=tuple(filter(None, map(_judge_finding, audits))),
        reading="A flip is a verdict that changes when the answers swap places; flips count as ties. An "
        "unbiased judge prefers the answer shown first half of the time. Preferring the longer answer is "
        "not an error by itself, so the same share for people stands beside it.",
        basis="; ".join(judged) or "0 battles",
        blocks=tuple(blocks),
    )


def _which_speaks(audits: Sequence[Audit]) -> list[Block]:
    """Which judge the other sections mean, where there are several."""
    names = list(dict.fromkeys(audit.evaluator for audit in audits if audit.speaks))
    if len(names) <= 1:
        return []
    text = (
        f"Where other sections show one judge, it is {names[0]}; where it gave no verdict, the next of "
        f"{and_list(names[1:])}. The verdicts of all judges are here, in the section on agreement and in "
        "results.jsonl."
    )
    return [Notice(text)]


def _judge_finding(audit: Audit) -> str:
    parts = []
    if audit.flipped.value is not None:
        parts.append(f"changes its verdict with the order in {share_of(audit.flipped, 'the battles')}")
    if audit.longer.value is not None:
        people = percent(audit.people_longer.value)
        parts.append(f"prefers the longer answer in {percent(audit.longer.value)} (people: {people})")
    return f"The {audit.evaluator} judge {' and '.join(parts)}." if parts else ""


def _measures(audit: Audit) -> dict[str, Share]:
    shares = {
        "verdict flips with the order": audit.flipped,
        "verdict is a tie": audit.tied,
        "prefers the answer shown first": audit.first_shown,
        "prefers the longer answer": audit.longer,
        "people prefer the longer answer": audit.people_longer,
        "prefers an answer at least twice as long": audit.twice_as_long,
    }
    if audit.own is not None:
        shares["judge prefers its own family"] = audit.own.by_judge
        shares["people prefer that family"] = audit.own.by_people
    return shares


def _chart(audit: Audit) -> Figure:
    shares = _measures(audit)
    marks = share_marks("share", list(enumerate(shares.values())), GREEN, "square", "<extra></extra>")
    return figure(
        f"{audit.evaluator}, {audit.model}: {part_of(audit.judged, audit.received, 'battles')}",
        alt="; ".join(f"{name}: {share_of(value)}" for name, value in shares.items()),
        traces=[marks],
        height=rows_height(len(shares)),
        layout={
            "yaxis": names_axis(list(shares)),
            "xaxis": share_axis("share of cases", range=[-0.02, 1.02]),
            "shapes": [vertical_line(0.5)],
        },
    )


def _judge_table(audit: Audit) -> Table:
    return Table(
        caption=f"{audit.evaluator}, {audit.model}",
        columns=("measure", "share", "95% interval"),
        rows=[
            (name, share_of(value), percent_interval(value.low, value.high))
            for name, value in _measures(audit).items()
        ],
        note=FEW_NOTE,
        folded=True,
    )


def _not_measured(audits: Sequence[Audit]) -> list[NotMeasured]:
    """What is missing of which judges; each lack once for all that have it."""
    no_family = "no system of the family of their models competes with one of another family"
    one_order = "they judged no battle in both orders, or are panels, whose members are audited one by one"
    lacks = (
        ("self-preference", [audit for audit in audits if audit.own is None], no_family),
        ("flips", [audit for audit in audits if audit.flipped.value is None], one_order),
    )
    return [
        NotMeasured(f"{what} of {and_list(list(dict.fromkeys(judge.evaluator for judge in judges)))}", why)
        for what, judges, why in lacks
        if judges
    ]


def draw_calibration(judges: Sequence[JudgeCalibration]) -> Content:
    """A reliability plot per scorer and dimension, and a table of all."""
    compared = [judge for judge in judges if judge.calibration.cases]
    blocks: list[Block] = []
    if compared:
        blocks.append(
            Figures(
                "Scorer and human dimension",
                {_name(compared_judge): (_plot(compared_judge),) for compared_judge in compared},
            )
        )
        blocks += [_calibration_table(compared), *_bands(compared)]
    else:
        blocks.append(NotMeasured("calibration of probabilities", _nothing(judges)))
    return Content(
        findings=tuple(_calibration_finding(compared_judge) for compared_judge in compared[:1]),
        reading="Each point is the verdicts of similar probability: to the right how probable the scorer "
        "called them on average, upwards how many of them people share. On the diagonal probabilities can be "
        "taken at their word; below it the judge is too sure of itself. The calibration error is the mean "
        "distance from the diagonal. The Brier score also counts how much the probabilities tell apart: it "
        "should be below that of somebody who always names the shares of A, tie and B. The probabilities of "
        "the nuggets follow from those of their labels, which are taken as independent.",
        basis=_basis(compared),
        blocks=tuple(blocks),
    )


def _basis(judges: Sequence[JudgeCalibration]) -> str:
    """The verdicts compared per judge, on the first dimension."""
    first = [judge for judge in judges if judge.dimension == judges[0].dimension]
    compared = (
        f"{judge.evaluator} {part_of(judge.calibration.cases, judge.judged, 'verdicts')}" for judge in first
    )
    return ", ".join(compared) or "0 verdicts"


def _nothing(judges: Sequence[JudgeCalibration]) -> str:
    if judges:
        return "no battle has both a human preference and probabilities of a judge or of labels"
    return "no judge and no label has probabilities; the profiles `frugal` and `small` ask for them"


def _name(judge: JudgeCalibration) -> str:
    return f"{judge.evaluator}, {judge.model}, {dimension_name(judge.dimension)}"


def _calibration_finding(judge: JudgeCalibration) -> str:
    calibration = judge.calibration
    return (
        f"On {dimension_name(judge.dimension)}, {judge.evaluator} is "
        f"{percent(calibration.confidence, 0)} sure on average and agrees with people "
        f"in {share_of(calibration.right, 'the battles')}; the calibration error is "
        f"{percent(calibration.error)}."
    )


def _plot(judge: JudgeCalibration) -> Figure:
    bins = judge.calibration.bins
    measured = [(bin_.confidence, bin_.right) for bin_ in bins if bin_.right.value is not None]
    diagonal = curve(
        name="perfect",
        x=_AXIS,
        y=_AXIS,
        line={"color": GREY, "dash": "dot"},
        hoverinfo="skip",
    )
    marks = trace(
        "scatter",
        name="verdicts",
        x=[x for x, _ in measured],
        y=[right.value for _, right in measured],
        mode="markers",
        marker={"color": GREEN, "size": 10},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [(right.high or 0.0) - (right.value or 0.0) for _, right in measured],
            "arrayminus": [(right.value or 0.0) - (right.low or 0.0) for _, right in measured],
        },
        text=[share_of(right) for _, right in measured],
        hovertemplate="%{x:.0%} sure, people agree in %{text}<extra></extra>",
    )
    return figure(
        "Probability of a verdict, and how many of them people share",
        alt="; ".join(f"{percent(x, 0)} sure, right in {share_of(right)}" for x, right in measured),
        traces=[diagonal, marks],
        height=380,
        layout={
            "xaxis": share_axis("probability of the verdict", range=_AXIS),
            "yaxis": share_axis("people share it", range=_AXIS),
        },
    )


def _calibration_table(judges: Sequence[JudgeCalibration]) -> Table:
    return Table(
        caption="Calibration per scorer",
        columns=(
            "scorer",
            "model",
            "dimension",
            "mean probability",
            "people agree",
            "calibration error",
            "Brier score",
            "Brier score of the shares",
        ),
        rows=[
            (
                judge.evaluator,
                judge.model,
                dimension_name(judge.dimension),
                percent(judge.calibration.confidence),
                share_of(judge.calibration.right),
                percent(judge.calibration.error) + few_mark(judge.calibration.cases),
                number(judge.calibration.brier, 3),
                number(judge.calibration.brier_of_shares, 3),
            )
            for judge in judges
        ],
        note=f"The most probable verdict is compared, also where two orders disagree. {FEW_NOTE}",
        text_columns=(0, 1, 2),
    )


def _bands(judges: Sequence[JudgeCalibration]) -> list[Block]:
    rows = [
        (
            judge.evaluator,
            judge.model,
            dimension_name(judge.dimension),
            number(judge.band.band, 2) + few_mark(judge.band.battles),
            number(judge.band.kappa, 3),
            number(judge.band.kappa_decided, 3),
        )
        for judge in judges
        if judge.band is not None
    ]
    if not rows:
        return []
    columns = ("judge", "model", "dimension", "tie band", "kappa with a band", "kappa as decided")
    note = (
        "The tie band is the difference of the probabilities of A and B up to which calling a tie agrees "
        "best with people (weighted kappa). Kappa with a band uses, for each fifth of the battles, the band "
        f"of the others; where it is not higher than kappa as decided, a band does not help. {FEW_NOTE}"
    )
    table = Table(caption="Tie band per judge", columns=columns, rows=rows, note=note, text_columns=(0, 1, 2))
    return [table]


SECTION = Section(
    name="judges",
    title="The judges, audited",
    question="Do verdicts depend on order, length or family, and are probabilities meant?",
    parts=(
        Part("judge", compute_judge, draw_judge),
        Part("calibration", compute_calibration, draw_calibration),
    ),
)
