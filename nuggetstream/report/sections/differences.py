"""Differences: are the nugget scores further apart when people see a clear winner?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import plotly.graph_objects as go

from nuggetstream.domain.battle import Vote
from nuggetstream.files.numerals import integer, many, number, p_value, part_of
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, Notice, NotMeasured, Table
from nuggetstream.report.charts import VOTE_COLOURS, VOTE_NAMES, figure
from nuggetstream.report.section import Content, Part
from nuggetstream.report.wording import dimension_name
from nuggetstream.statistics.distributions import density, kolmogorov_smirnov
from nuggetstream.statistics.paired import benjamini_hochberg

ENOUGH = 5  # values; a density or a test of fewer would say nothing
GRID = tuple(round(float(x), 2) for x in np.linspace(-1, 1, 201))
_NOTHING = "no two groups of votes have nugget scores"
_DASHES = {"a": "solid", "tie": "dot", "b": "dash", "both_bad": "dashdot"}


@dataclass(frozen=True, slots=True)
class Group:
    """The differences of the battles with one vote.

    Attributes:
        vote: What people say.
        differences: All Score of A minus that of B, in [-1, 1], one per battle.
        mean: Of the differences.
        median: Of the differences.
        density: At `GRID`; None where it cannot be drawn.
        missing: Why there is no density; None where there is one.
    """

    vote: str
    differences: tuple[float, ...]
    mean: float | None
    median: float | None
    density: tuple[float, ...] | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two-sample Kolmogorov-Smirnov test between two groups.

    Attributes:
        first: Vote of the first group.
        second: Vote of the second group.
        sizes: Battles of the first and of the second group.
        statistic: Largest distance between the distribution functions, in [0, 1]; None without a test.
        p: Probability that two samples of one distribution lie this far apart; None without a test.
        p_adjusted: The same after Benjamini-Hochberg over the tests of the dimension.
        missing: Why there is no test; None where there is one.
    """

    first: str
    second: str
    sizes: tuple[int, int]
    statistic: float | None
    p: float | None
    p_adjusted: float | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Differences:
    """One human dimension.

    Attributes:
        dimension: Its name.
        compared: Labelled battles that have nugget scores.
        labelled: Battles with this dimension.
        received: All battles.
        groups: One per vote that occurs.
        comparisons: One per pair of groups.
    """

    dimension: str
    compared: int
    labelled: int
    received: int
    groups: tuple[Group, ...]
    comparisons: tuple[Comparison, ...]


def compute(results: Results) -> tuple[Differences, ...]:
    """Densities and tests per human dimension."""
    return tuple(_differences(results, dimension) for dimension in results.dimensions)


def _differences(results: Results, dimension: str) -> Differences:
    by_vote: dict[str, list[float]] = {vote.value: [] for vote in (Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD)}
    labelled = 0
    for battle in results.battles:
        if (vote := battle.preferences.get(dimension)) is None:
            continue
        labelled += 1
        if battle.nugget_verdict is not None:
            by_vote[vote.value].append(battle.nugget_verdict.margin)
    margins = {vote: values for vote, values in by_vote.items() if values}
    return Differences(
        dimension=dimension,
        compared=sum(map(len, margins.values())),
        labelled=labelled,
        received=results.received,
        groups=tuple(_group(vote, values) for vote, values in margins.items()),
        comparisons=_comparisons(margins),
    )


def _group(vote: str, values: list[float]) -> Group:
    curve, missing = None, None
    if len(values) < ENOUGH:
        missing = f"a density needs {ENOUGH} battles, and there {_are(len(values))}"
    elif np.ptp(values) < 1e-9 or (curve := density(values, np.array(GRID))) is None:
        missing = "all differences are the same"
    return Group(
        vote=vote,
        differences=tuple(values),
        mean=float(np.mean(values)),
        median=float(np.median(values)),
        density=None if curve is None else tuple(round(y, 5) for y in curve.tolist()),
        missing=missing,
    )


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _comparisons(margins: Mapping[str, list[float]]) -> tuple[Comparison, ...]:
    large = {vote: values for vote, values in margins.items() if len(values) >= ENOUGH}
    tests = {(test.first, test.second): test for test in kolmogorov_smirnov(large)}
    adjusted = benjamini_hochberg({pair: test.p_value for pair, test in tests.items()})
    return tuple(
        Comparison(
            first=first,
            second=second,
            sizes=(len(margins[first]), len(margins[second])),
            statistic=tests[first, second].distance if (first, second) in tests else None,
            p=tests[first, second].p_value if (first, second) in tests else None,
            p_adjusted=adjusted.get((first, second)),
            missing=None if (first, second) in tests else f"each group needs at least {ENOUGH} battles",
        )
        for first, second in combinations(margins, 2)
    )


def draw(dimensions: Sequence[Differences]) -> Content:
    """One density per vote, for every human dimension."""
    charts = {
        dimension_name(each.dimension): (_chart(each),)
        for each in dimensions
        if any(group.density for group in each.groups)
    }
    blocks: list[Block] = [Figures("Human dimension", charts)] if charts else []
    reasons = [
        f"{dimension_name(each.dimension)}, {VOTE_NAMES[group.vote]}: {group.missing}."
        for each in dimensions
        for group in each.groups
        if group.missing
    ]
    blocks += [Notice(f"Some densities are missing. {' '.join(map(_sentence, reasons))}")] if reasons else []
    blocks.append(
        _tests(dimensions)
        if any(each.comparisons for each in dimensions)
        else NotMeasured("score differences by vote", _NOTHING)
    )
    return Content(
        findings=_findings(dimensions),
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


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _findings(dimensions: Sequence[Differences]) -> tuple[str, ...]:
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


def _chart(differences: Differences) -> Figure:
    traces = [_curve(group) for group in differences.groups if group.density]
    alt = "; ".join(
        f"{VOTE_NAMES[group.vote]}: {many(len(group.differences), 'battle')}, mean {number(group.mean, 2)}, "
        f"median {number(group.median, 2)}"
        for group in differences.groups
    )
    layout = {
        "xaxis": {"title": {"text": "All Score of A minus All Score of B"}, "zeroline": True},
        "yaxis": {"title": {"text": "density"}, "rangemode": "tozero"},
        "showlegend": True,
    }
    compared = part_of(differences.compared, differences.labelled, "battles labelled")
    return figure(f"{dimension_name(differences.dimension)}: {compared}", alt, traces, 380, layout)


def _curve(group: Group) -> object:
    return go.Scatter(
        name=f"{VOTE_NAMES[group.vote]} ({len(group.differences)})",
        x=list(GRID),
        y=list(group.density or ()),
        mode="lines",
        fill="tozeroy",
        fillcolor=_faint(VOTE_COLOURS[group.vote]),
        line={"color": VOTE_COLOURS[group.vote], "width": 2.5, "dash": _DASHES[group.vote]},
        hovertemplate="difference %{x:.2f}<br>density %{y:.2f}",
    )


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"


def _tests(dimensions: Sequence[Differences]) -> Table:
    rows = [
        (
            dimension_name(each.dimension),
            f"{VOTE_NAMES[test.first]} / {VOTE_NAMES[test.second]}",
            f"{integer(test.sizes[0])} / {integer(test.sizes[1])}",
            number(test.statistic, 2),
            p_value(test.p),
            p_value(test.p_adjusted),
            test.missing or "",
        )
        for each in dimensions
        for test in each.comparisons
    ]
    columns = ("dimension", "groups", "battles", "K-S statistic", "p-value", "adjusted p-value", "note")
    note = "Adjusted by Benjamini-Hochberg over the tests of one dimension."
    return Table(
        caption="Kolmogorov-Smirnov tests",
        columns=columns,
        rows=rows,
        note=note,
        text_columns=(1, 6),
        folded=True,
    )


PART = Part("differences", compute, draw)
