"""Score differences by human vote: densities and tests."""

from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import VOTE_COLOURS, VOTE_NAMES, figure
from nuggetstream.report.drawing.words import dimension_name, number, of, p_value, whole
from nuggetstream.report.numbers.differences import GRID, Differences, Group

_DASHES = {"a": "solid", "tie": "dot", "b": "dash", "both_bad": "dashdot"}


def draw(found: Sequence[Differences]) -> Section:
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
    return Section(
        name="differences",
        title="Score differences by vote",
        question="Are the nugget scores further apart when people see a clear winner?",
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
