"""Score differences, by what people said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import plotly.graph_objects as go

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import VOTE_COLOURS, VOTE_NAMES, figure
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import dimension_name, number, of, p_value, whole
from nuggetstream.statistics.distributions import density, kolmogorov_smirnov
from nuggetstream.statistics.paired import benjamini_hochberg

ENOUGH = 5  # values; a density or a test of fewer would be a picture of nothing
GRID = tuple(round(float(x), 2) for x in np.linspace(-1, 1, 201))


@dataclass(frozen=True, slots=True)
class Group:
    """The differences of the battles with one vote.

    Attributes:
        differences: All Score of A minus that of B, in [-1, 1].
        density: at `GRID`; None where it cannot be drawn.
        missing: why not.
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
        statistic: largest distance between the distribution functions, in [0, 1]; None without a test.
        p: that two samples of one distribution lie this far apart.
        p_adjusted: after Benjamini-Hochberg over the tests of the dimension.
        missing: why there is no test.
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
        compared: labelled battles that have nugget scores.
        labelled: battles with this dimension.
        received: all battles.
    """

    dimension: str
    compared: int
    labelled: int
    received: int
    groups: tuple[Group, ...]
    comparisons: tuple[Comparison, ...]


def compute(results: Results) -> tuple[Differences, ...]:
    """Densities and tests per human dimension."""
    return tuple(_dimension(results, name) for name in results.dimensions)


def _dimension(results: Results, dimension: str) -> Differences:
    by_vote: dict[str, list[float]] = {vote.value: [] for vote in (Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD)}
    labelled = 0
    for battle in results.battles:
        if (vote := battle.preferences.get(dimension)) is None:
            continue
        labelled += 1
        if battle.nugget_verdict is not None:
            by_vote[vote.value].append(battle.nugget_verdict.margin)
    known = {vote: values for vote, values in by_vote.items() if values}
    groups = tuple(_group(vote, values) for vote, values in known.items())
    compared = sum(map(len, known.values()))
    return Differences(dimension, compared, labelled, results.received, groups, _comparisons(known))


def _group(vote: str, values: list[float]) -> Group:
    curve, missing = None, None
    if len(values) < ENOUGH:
        missing = f"a density needs {ENOUGH} battles, here {len(values)}"
    elif np.ptp(values) < 1e-9 or (curve := density(values, np.array(GRID))) is None:
        missing = "all differences are the same"
    drawn = None if curve is None else tuple(round(y, 5) for y in curve.tolist())
    return Group(vote, tuple(values), float(np.mean(values)), float(np.median(values)), drawn, missing)


def _comparisons(known: Mapping[str, list[float]]) -> tuple[Comparison, ...]:
    tests = kolmogorov_smirnov({name: values for name, values in known.items() if len(values) >= ENOUGH})
    found = {(test.first, test.second): test for test in tests}
    adjusted = benjamini_hochberg({pair: test.p_value for pair, test in found.items()})
    return tuple(
        Comparison(
            first=x,
            second=y,
            sizes=(len(known[x]), len(known[y])),
            statistic=found[x, y].distance if (x, y) in found else None,
            p=found[x, y].p_value if (x, y) in found else None,
            p_adjusted=adjusted.get((x, y)),
            missing=None if (x, y) in found else f"a test needs at least {ENOUGH} battles in each group",
        )
        for x, y in combinations(known, 2)
    )


_DASHES = {"a": "solid", "tie": "dot", "b": "dash", "both_bad": "dashdot"}


def draw(found: Sequence[Differences]) -> Content:
    """One density per vote, for every human dimension."""
    drawn = {dimension_name(each.dimension): (_chart(each),) for each in found if _can(each)}
    blocks: list[Block] = [Figures("Human dimension", drawn)] if drawn else []
    reasons = [
        f"{dimension_name(each.dimension)}, {VOTE_NAMES[group.vote]} (no density): {group.missing}."
        for each in found
        for group in each.groups
        if group.missing
    ]
    blocks += [State(" ".join(reasons))] if reasons else []
    blocks.append(_tests(found) if any(x.comparisons for x in found) else State(_NOTHING))
    return Content(
        finding=_finding(found),
        reading="The horizontal axis is the All Score of A minus that of B. If nuggets see what people "
        "see, the curve of battles won by A lies to the right, that of B to the left and ties around "
        "zero. The K-S statistic is the largest distance between two groups' distribution functions (0 "
        "alike, 1 apart). Battles on one query are not independent, so the p values are on the optimistic "
        "side.",
        basis=of(found[0].compared, found[0].received) if found else "0 battles",
        blocks=tuple(blocks),
    )


_NOTHING = "No two groups of votes with nugget scores: nothing to compare."


def _can(each: Differences) -> bool:
    return any(group.density for group in each.groups)


def _finding(found: Sequence[Differences]) -> str:
    if not found:
        return ""
    parts = [
        f"{number(group.mean)} where {VOTE_NAMES[group.vote]}"
        for group in found[0].groups
        if group.mean is not None and group.missing is None
    ]
    if not parts:
        return ""
    return f"On {dimension_name(found[0].dimension)}, the mean difference is {', '.join(parts)}."


def _chart(each: Differences) -> Figure:
    traces = [_curve(group) for group in each.groups if group.density]
    alt = "; ".join(
        f"{VOTE_NAMES[group.vote]}: {len(group.differences)} battles, mean {number(group.mean)}, "
        f"median {number(group.median)}"
        for group in each.groups
    )
    layout = {
        "xaxis": {"title": {"text": "All Score of A minus All Score of B"}, "zeroline": True},
        "yaxis": {"title": {"text": "density"}, "rangemode": "tozero"},
        "showlegend": True,
    }
    title = f"{dimension_name(each.dimension)}: {of(each.compared, each.labelled)} labelled"
    return figure(title, alt, traces, 380, layout)


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
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"


def _tests(found: Sequence[Differences]) -> Table:
    rows = [
        (
            dimension_name(each.dimension),
            f"{VOTE_NAMES[test.first]} / {VOTE_NAMES[test.second]}",
            f"{whole(test.sizes[0])} / {whole(test.sizes[1])}",
            number(test.statistic),
            p_value(test.p),
            p_value(test.p_adjusted),
            test.missing or "",
        )
        for each in found
        for test in each.comparisons
    ]
    columns = ("dimension", "groups", "battles", "K-S statistic", "p", "p adjusted", "")
    note = "Adjusted: Benjamini-Hochberg over the tests of one dimension."
    return Table("Kolmogorov-Smirnov tests", columns, rows, note, text_columns=(1, 6), folded=True)


SECTION = Section(
    name="differences",
    title="Score differences by vote",
    question="Are the nugget scores further apart when people see a clear winner?",
    compute=compute,
    draw=draw,
)
