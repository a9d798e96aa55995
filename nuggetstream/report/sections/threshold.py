"""The tie threshold.

How large must a difference of scores be before it means something?
"""

from collections.abc import Sequence
from typing import Any

from nuggetstream.figures.charts import (
    BLUE,
    GREEN,
    ORANGE,
    VOTE_COLOURS,
    VOTE_NAMES,
    Trace,
    curve,
    faint,
    figure,
    vertical_line,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import MISSING, integer, many, number, p_value, part_of, percent
from nuggetstream.report.blocks import Block, Figures, Notice, NotMeasured, Table
from nuggetstream.report.numbers.differences import GRID, Differences, Group, compute_differences
from nuggetstream.report.numbers.threshold import Sweep, compute_threshold
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import dimension_name, sentence

_NOTHING = "no two groups of votes have nugget scores"
_DASHES = {"a": "solid", "tie": "dot", "b": "dash", "both_bad": "dashdot"}


def draw_threshold(sweeps: Sequence[Sweep]) -> Content:
    """Agreement, kappa and share of ties over thresholds, for every human dimension."""
    drawable = [sweep for sweep in sweeps if sweep.steps]
    why = "no battle has both a human preference and nugget scores"
    blocks: list[Block] = [NotMeasured("agreement by threshold", why)]
    if drawable:
        charts = {dimension_name(sweep.dimension): (_threshold_chart(sweep),) for sweep in drawable}
        blocks = [Figures("Human dimension", charts), _calibrations(drawable), _table(drawable)]
    return Content(
        findings=_threshold_findings(drawable[0]) if drawable else (),
        reading="Two answers whose scores differ by at most the threshold are a tie. A larger threshold "
        "makes more ties, and every tie is half an agreement. The solid vertical line is the threshold "
        "that these results were made with. The dotted line splits the battles that people call a tie most "
        "evenly over A, tie and B; the dashed line has the highest kappa. These two are chosen and judged "
        "on the same battles, so they look better than they will on new ones.",
        basis=part_of(drawable[0].compared, drawable[0].received, "battles") if drawable else "0 battles",
        blocks=tuple(blocks),
    )


def _threshold_findings(sweep: Sweep) -> tuple[str, ...]:
    if sweep.best is None:
        return ()
    used = ", ".join(number(threshold) for threshold in sorted(sweep.used))
    name = dimension_name(sweep.dimension)
    if sweep.equals == len(sweep.steps):
        text = f"On {name}, kappa is the same at every threshold; these results use {used}."
    else:
        equals = f", the smallest of {sweep.equals} with this kappa" if sweep.equals > 1 else ""
        best = f"a threshold of {number(sweep.best)}"
        text = f"On {name}, kappa is highest at {best}{equals}; these results use {used}."
    if (even := sweep.equal_split.threshold) is not None:
        return text, f"Human ties split most evenly at {number(even)}."
    return (text,)


def _threshold_chart(sweep: Sweep) -> Figure:
    thresholds = [step.threshold for step in sweep.steps]
    curves = (
        ("agreement", [step.agreement for step in sweep.steps], BLUE, "solid"),
        ("weighted kappa", [step.kappa for step in sweep.steps], GREEN, "dash"),
        ("share of ties", [step.ties for step in sweep.steps], ORANGE, "dot"),
    )
    traces = [
        curve(
            name=name,
            x=thresholds,
            y=values,
            line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
            hovertemplate="threshold %{x:.3f}: %{y:.3f}",
        )
        for name, values, colour, dash in curves
        if any(value is not None for value in values)
    ]
    compared = part_of(sweep.compared, sweep.labelled, "battles labelled")
    return figure(
        f"{dimension_name(sweep.dimension)}: {compared}",
        alt=f"kappa is highest at threshold {number(sweep.best)}; {compared}",
        traces=traces,
        height=360,
        layout={
            "xaxis": {"title": {"text": "threshold"}, "tickformat": ".2f"},
            "yaxis": {"title": {"text": "value"}, "rangemode": "tozero"},
            "shapes": [*(vertical_line(used, "solid") for used in sweep.used), *_calibrated_lines(sweep)],
        },
    )


def _calibrated_lines(sweep: Sweep) -> list[dict[str, Any]]:
    """Calibrated thresholds as vertical lines, where the axis reaches."""
    lines = ((sweep.equal_split.threshold, "dot"), (sweep.by_kappa.threshold, "dash"))
    return [
        vertical_line(threshold, dash)
        for threshold, dash in lines
        if threshold is not None and threshold <= sweep.steps[-1].threshold
    ]


def _calibrations(sweeps: Sequence[Sweep]) -> Table:
    rows = [
        (
            dimension_name(sweep.dimension),
            name,
            number(calibrated.threshold),
            number(calibrated.kappa, 2),
            percent(calibrated.ties),
            MISSING
            if calibrated.tie_row is None
            else " / ".join(percent(share, 0) for share in calibrated.tie_row),
            calibrated.missing or "",
        )
        for sweep in sweeps
        for name, calibrated in (
            ("even split of human ties", sweep.equal_split),
            ("highest kappa", sweep.by_kappa),
        )
    ]
    return Table(
        caption="Calibrated thresholds",
        columns=(
            "dimension",
            "calibrated by",
            "threshold",
            "kappa",
            "ties",
            "human ties: A / tie / B",
            "note",
        ),
        rows=rows,
        note="Chosen among all differences that occur, not among the steps of the sweep; “both bad” is left "
        "out.",
        text_columns=(1, 6),
        folded=len(rows) > 4,
    )


def _table(sweeps: Sequence[Sweep]) -> Table:
    rows = []
    for sweep in sweeps:
        used = max(sweep.used, key=lambda threshold: sweep.used[threshold])
        at_used = min(sweep.steps, key=lambda step: abs(step.threshold - used))
        best = next((step for step in sweep.steps if step.threshold == sweep.best), None)
        rows.append(
            (
                dimension_name(sweep.dimension),
                number(used, 2),
                number(at_used.kappa, 2),
                number(sweep.best),
                number(best.kappa if best else None, 2),
                percent(sweep.human_ties),
                part_of(sweep.compared, sweep.labelled),
            )
        )
    return Table(
        caption="Thresholds per dimension",
        columns=(
            "dimension",
            "threshold used",
            "its kappa",
            "best threshold",
            "its kappa",
            "human ties",
            "compared of labelled",
        ),
        rows=rows,
        note="Used: the threshold of most battles. Best: the highest kappa of every 0.01 up to 0.3, the "
        "thresholds used and the calibrated ones.",
        folded=True,
    )


def draw_differences(dimensions: Sequence[Differences]) -> Content:
    """One density per vote, for every human dimension."""
    charts = {
        dimension_name(dimension.dimension): (_differences_chart(dimension),)
        for dimension in dimensions
        if any(group.density for group in dimension.groups)
    }
    blocks: list[Block] = [Figures("Human dimension", charts)] if charts else []
    reasons = [
        f"{dimension_name(dimension.dimension)}, {VOTE_NAMES[group.vote]}: {group.missing}."
        for dimension in dimensions
        for group in dimension.groups
        if group.missing
    ]
    blocks += [Notice(f"Some densities are missing. {' '.join(map(sentence, reasons))}")] if reasons else []
    blocks.append(
        _tests(dimensions)
        if any(dimension.comparisons for dimension in dimensions)
        else NotMeasured("score differences by vote", _NOTHING)
    )
    return Content(
        findings=_differences_findings(dimensions),
        reading="The horizontal axis is the All Score of A minus that of B. If nuggets see what people "
        "see, the curve of the battles won by A lies on the right, that of the battles won by B on the "
        "left, and that of ties around zero. The Kolmogorov-Smirnov (K-S) statistic is the largest "
        "distance between the distribution functions of two groups: 0 when they are the same, 1 when they "
        "do not overlap. Battles on one query are not independent, so the p-values are too small rather "
        "than too large.",
        basis=part_of(dimensions[0].compared, dimensions[0].received, "battles")
        if dimensions
        else "0 battles",
        blocks=tuple(blocks),
    )


def _differences_findings(dimensions: Sequence[Differences]) -> tuple[str, ...]:
    if not dimensions:
        return ()
    means = [
        f"{number(group.mean, 2)} where {VOTE_NAMES[group.vote]}"
        for group in dimensions[0].groups
        if group.mean is not None and group.missing is None
    ]
    if not means:
        return ()
    return (f"On {dimension_name(dimensions[0].dimension)}, the mean difference is {', '.join(means)}.",)


def _differences_chart(differences: Differences) -> Figure:
    traces = [_curve(group) for group in differences.groups if group.density]
    compared = part_of(differences.compared, differences.labelled, "battles labelled")
    return figure(
        f"{dimension_name(differences.dimension)}: {compared}",
        alt="; ".join(
            f"{VOTE_NAMES[group.vote]}: {many(len(group.differences), 'battle')}, "
            f"mean {number(group.mean, 2)}, median {number(group.median, 2)}"
            for group in differences.groups
        ),
        traces=traces,
        height=380,
        layout={
            "xaxis": {"title": {"text": "All Score of A minus All Score of B"}, "zeroline": True},
            "yaxis": {"title": {"text": "density"}, "rangemode": "tozero"},
            "showlegend": True,
        },
    )


def _curve(group: Group) -> Trace:
    return curve(
        name=f"{VOTE_NAMES[group.vote]} ({len(group.differences)})",
        x=list(GRID),
        y=list(group.density or ()),
        fill="tozeroy",
        fillcolor=faint(VOTE_COLOURS[group.vote]),
        line={"color": VOTE_COLOURS[group.vote], "width": 2.5, "dash": _DASHES[group.vote]},
        hovertemplate="difference %{x:.2f}<br>density %{y:.2f}",
    )


def _tests(dimensions: Sequence[Differences]) -> Table:
    return Table(
        caption="Kolmogorov-Smirnov tests",
        columns=("dimension", "groups", "battles", "K-S statistic", "p-value", "adjusted p-value", "note"),
        rows=[
            (
                dimension_name(dimension.dimension),
                f"{VOTE_NAMES[test.first]} and {VOTE_NAMES[test.second]}",
                f"{integer(test.sizes[0])} and {integer(test.sizes[1])}",
                number(test.statistic, 2),
                p_value(test.p),
                p_value(test.p_adjusted),
                test.missing or "",
            )
            for dimension in dimensions
            for test in dimension.comparisons
        ],
        note="Adjusted by Benjamini-Hochberg over the tests of one dimension.",
        text_columns=(1, 6),
        folded=True,
    )


SECTION = Section(
    name="threshold",
    title="The tie threshold",
    question="How large must a difference of scores be before it means something?",
    parts=(
        Part("threshold", compute_threshold, draw_threshold),
        Part("differences", compute_differences, draw_differences),
    ),
)
