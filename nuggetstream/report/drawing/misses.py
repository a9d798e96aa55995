"""Why answers miss nuggets, per system."""

from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import (
    BLUE,
    GREY,
    ORANGE,
    YELLOW,
    figure,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.drawing.words import of, percent, whole
from nuggetstream.report.numbers.misses import CAUSES, Misses, SystemMisses

_COLOURS = dict(zip(CAUSES, (BLUE, ORANGE, YELLOW, GREY), strict=True))


def draw(found: SystemMisses) -> Section:
    """Misses by cause, for all nuggets and the vital ones."""
    sets: dict[str, list[Misses]] = {}
    for row in found.rows:
        if row.labelled:
            sets.setdefault(row.which, []).append(row)
    blocks: list[Block] = []
    if sets:
        charts: dict[str, tuple[Figure, ...]] = {
            which: (_chart(which, sets[which]),)
            for which in ("all nuggets", "vital nuggets")
            if which in sets
        }
        blocks += [Figures("Nuggets", charts), _table(found.rows)]
    else:
        blocks.append(State("No nugget has a label, so nothing is known to be missed."))
    named = len({row.system for row in found.rows})
    return Section(
        name="misses",
        title="Misses and their causes",
        question="Is the search or the writing to blame?",
        finding=_finding(sets.get("all nuggets", [])),
        reading="Generation: one of the answer's own pages states the fact, but the answer does not. "
        "Retrieval: some page states it, but none of its own. Unsourced: no page that was read states it, "
        "only the other answer. Bars are shares of all labelled nuggets, so their length is the miss "
        "rate.",
        basis=of(named, found.systems, "systems with labels"),
        blocks=tuple(blocks),
    )


def _finding(rows: Sequence[Misses]) -> str:
    if len(rows) < 2:
        return ""
    most, least = rows[0], rows[-1]
    return (
        f"{most.system} misses the most ({percent(most.missed / most.labelled, 0)} of its labelled nuggets), "
        f"{least.system} the least ({percent(least.missed / least.labelled, 0)})."
    )


def _chart(which: str, rows: Sequence[Misses]) -> Figure:
    traces = [
        go.Bar(
            name=cause,
            orientation="h",
            x=[row.causes[cause] / row.labelled for row in rows],
            y=list(range(len(rows))),
            marker={"color": colour},
            customdata=[(row.causes[cause], row.labelled) for row in rows],
            hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})",
        )
        for cause, colour in _COLOURS.items()
        if any(row.causes[cause] for row in rows)
    ]
    alt = "; ".join(f"{row.system}: {row.missed} of {row.labelled} missed, {row.causes}" for row in rows)
    layout = {
        "yaxis": names_axis([row.system for row in rows]),
        "xaxis": share_axis("missed, of labelled nuggets"),
        "showlegend": True,
    }
    return figure(f"Missed nuggets by cause: {which}", alt, traces, rows_height(len(rows)), layout)


def _table(rows: Sequence[Misses]) -> Table:
    cells = [
        (
            row.system,
            row.which,
            whole(row.answers),
            whole(row.labelled),
            f"{whole(row.missed)} ({percent(row.missed / row.labelled if row.labelled else None, 0)})",
            *(whole(row.causes[cause]) for cause in CAUSES),
        )
        for row in rows
    ]
    columns = ("system", "which", "answers", "labelled", "missed", *CAUSES)
    return Table("Counts", columns, cells, text_columns=(1,), folded=True)
