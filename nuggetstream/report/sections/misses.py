"""Nuggets an answer does not state, and what is to blame, per system."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.files.evaluated import LabelRow
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREY, ORANGE, YELLOW, figure, names_axis, rows_height, share_axis
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import of, percent, whole

UNKNOWN = "cause not known"
CAUSES = (Cause.GENERATION.value, Cause.RETRIEVAL.value, Cause.UNSOURCED.value, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Misses:
    """One system, for all nuggets or the vital ones.

    Attributes:
        answers: of the system that have at least one label.
        labelled: nuggets with a label for it.
        missed: of those, not stated.
        causes: cause -> misses.
    """

    system: str
    which: str
    answers: int
    labelled: int
    missed: int
    causes: dict[str, int]


@dataclass(frozen=True, slots=True)
class SystemMisses:
    """Every system, most missed per labelled nugget first."""

    systems: int
    rows: tuple[Misses, ...]


def compute(results: Results) -> SystemMisses:
    """Misses per system; a system without a single label has no row."""
    labels: dict[str, list[tuple[str, Importance, LabelRow]]] = {}
    systems = {row.answer(side).system for row in results.battles for side in Side}
    for row in results.battles:
        for nugget in row.nuggets:
            for side, label in ((Side.A, nugget.a), (Side.B, nugget.b)):
                if label is not None:
                    own = labels.setdefault(row.answer(side).system, [])
                    own.append((f"{row.id}:{side}", nugget.importance, label))
    rows = []
    for system, own in labels.items():
        rows.append(_misses(system, "all nuggets", own))
        rows.append(_misses(system, "vital nuggets", [each for each in own if each[1] is Importance.VITAL]))
    rows.sort(key=lambda each: (-each.missed / max(each.labelled, 1), each.system))
    return SystemMisses(len(systems), tuple(rows))


def _misses(system: str, which: str, own: list[tuple[str, Importance, LabelRow]]) -> Misses:
    missed = [label for _, _, label in own if label.support is Support.NOT_SUPPORT]
    counts = Counter(label.cause.value if label.cause else UNKNOWN for label in missed)
    return Misses(
        system=system,
        which=which,
        answers=len({answer for answer, _, _ in own}),
        labelled=len(own),
        missed=len(missed),
        causes={cause: counts[cause] for cause in CAUSES},
    )


_COLOURS = dict(zip(CAUSES, (BLUE, ORANGE, YELLOW, GREY), strict=True))


def draw(found: SystemMisses) -> Content:
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
    return Content(
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


SECTION = Section(
    name="misses",
    title="Misses and their causes",
    question="Is the search or the writing to blame?",
    compute=compute,
    draw=draw,
)
