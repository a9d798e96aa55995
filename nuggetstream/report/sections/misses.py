"""Misses: is the search or the writing to blame for the nuggets that an answer does not state?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.files.labelled import LabelRow
from nuggetstream.files.numerals import integer, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import (
    BLUE,
    GREY,
    ORANGE,
    YELLOW,
    figure,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content, Part

UNKNOWN = "cause not known"
CAUSES = (Cause.GENERATION.value, Cause.RETRIEVAL.value, Cause.UNSOURCED.value, UNKNOWN)
ALL, VITAL = "all nuggets", "vital nuggets"
_COLOURS = dict(zip(CAUSES, (BLUE, ORANGE, YELLOW, GREY), strict=True))


@dataclass(frozen=True, slots=True)
class Misses:
    """One system, for all nuggets or the vital ones.

    Attributes:
        system: Its name.
        which: "all nuggets" or "vital nuggets".
        answers: Answers of the system that have at least one label.
        labelled: Nuggets with a label for one of these answers.
        claims: Of these, nuggets that only an answer states, or that are disputed; nobody misses them.
        missed: Other labelled nuggets that the answer does not state.
        causes: Cause -> misses.
    """

    system: str
    which: str
    answers: int
    labelled: int
    claims: int
    missed: int
    causes: dict[str, int]

    @property
    def facts(self) -> int:
        """The labelled nuggets that an answer can miss, which are all but the claims."""
        return self.labelled - self.claims

    @property
    def rate(self) -> float | None:
        """Share of the facts that are missed; None where there are none."""
        return self.missed / self.facts if self.facts else None


@dataclass(frozen=True, slots=True)
class SystemMisses:
    """Every system, the highest rate of misses first.

    Attributes:
        systems: All systems, those without a label included.
        rows: Two per system that has a label: all nuggets and vital ones.
    """

    systems: int
    rows: tuple[Misses, ...]


@dataclass(frozen=True, slots=True)
class _Labelled:
    answer: str
    importance: Importance
    label: LabelRow
    is_claim: bool


def compute(results: Results) -> SystemMisses:
    """Misses per system; a system without a single label has no row."""
    labels: dict[str, list[_Labelled]] = {}
    for battle in results.battles:
        for nugget in battle.nuggets:
            for side, label in ((Side.A, nugget.a), (Side.B, nugget.b)):
                if label is not None:
                    own = labels.setdefault(battle.answer(side).system, [])
                    name = f"{battle.id}:{side}"
                    own.append(_Labelled(name, nugget.importance, label, nugget.is_unconfirmed))
    rows = []
    for system, own in labels.items():
        vital = [labelled for labelled in own if labelled.importance is Importance.VITAL]
        rows += [_misses(system, ALL, own), _misses(system, VITAL, vital)]
    rows.sort(key=lambda row: (-(row.rate or 0.0), row.system))
    systems = {battle.answer(side).system for battle in results.battles for side in Side}
    return SystemMisses(len(systems), tuple(rows))


def _misses(system: str, which: str, own: Sequence[_Labelled]) -> Misses:
    claims = sum(each.is_claim for each in own)
    missed = [each.label for each in own if each.label.support is Support.NOT_SUPPORT and not each.is_claim]
    counts = Counter(label.cause.value if label.cause else UNKNOWN for label in missed)
    return Misses(
        system=system,
        which=which,
        answers=len({each.answer for each in own}),
        labelled=len(own),
        claims=claims,
        missed=len(missed),
        causes={cause: counts[cause] for cause in CAUSES},
    )


def draw(misses: SystemMisses) -> Content:
    """Misses by cause, for all nuggets and the vital ones."""
    rows = {which: [row for row in misses.rows if row.which == which and row.facts] for which in (ALL, VITAL)}
    charts: dict[str, tuple[Figure, ...]] = {
        which: (_chart(which, own),) for which, own in rows.items() if own
    }
    why = "no nugget has a label"
    if misses.rows:
        why = "all labelled nuggets are claims, unconfirmed or disputed, which nobody misses"
    blocks: list[Block] = [NotMeasured("misses", why)]
    if charts:
        blocks = [Figures("Nuggets", charts), _table(misses.rows)]
    with_labels = len({row.system for row in misses.rows})
    return Content(
        findings=_findings(rows[ALL]),
        reading="Generation: one of the answer's own sources states the nugget, but the answer does not "
        "use it. Retrieval: a source of the battle states it, but none of the answer's own sources. "
        "Unsourced: only the other answer states it, in results without grounding. Claims that no source "
        "confirms, or that are disputed, are missed by nobody and count in no share. The bars are shares of "
        "the other labelled nuggets, so the length of a bar is the miss rate.",
        basis=part_of(with_labels, misses.systems, "systems with labels"),
        blocks=tuple(blocks),
    )


def _findings(rows: Sequence[Misses]) -> tuple[str, ...]:
    if len(rows) < 2:
        return ()
    most, least = rows[0], rows[-1]
    return (
        f"{most.system} misses the most ({percent(most.rate, 0)} of the nuggets that it can miss), "
        f"{least.system} the fewest ({percent(least.rate, 0)}).",
    )


def _chart(which: str, rows: Sequence[Misses]) -> Figure:
    traces = [
        go.Bar(
            name=cause,
            orientation="h",
            x=[row.causes[cause] / row.facts for row in rows],
            y=list(range(len(rows))),
            marker={"color": colour},
            customdata=[(row.causes[cause], row.facts) for row in rows],
            hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})",
        )
        for cause, colour in _COLOURS.items()
        if any(row.causes[cause] for row in rows)
    ]
    alt = "; ".join(f"{row.system}: {part_of(row.missed, row.facts, 'missed')}{_causes(row)}" for row in rows)
    layout = {
        "yaxis": names_axis([row.system for row in rows]),
        "xaxis": share_axis("missed, of labelled nuggets without claims"),
        "showlegend": True,
    }
    return figure(f"Missed nuggets by cause: {which}", alt, traces, rows_height(len(rows)), layout)


def _causes(row: Misses) -> str:
    counts = ", ".join(f"{cause} {count}" for cause, count in row.causes.items() if count)
    return f" ({counts})" if counts else ""


def _table(rows: Sequence[Misses]) -> Table:
    cells = [
        (
            row.system,
            row.which,
            integer(row.answers),
            integer(row.labelled),
            integer(row.claims),
            f"{integer(row.missed)} ({percent(row.rate, 0)})",
            *(integer(row.causes[cause]) for cause in CAUSES),
        )
        for row in rows
    ]
    columns = ("system", "which", "answers", "labelled", "claims", "missed", *CAUSES)
    return Table(
        caption="Missed nuggets per system", columns=columns, rows=cells, text_columns=(1,), folded=True
    )


PART = Part("misses", compute, draw)
