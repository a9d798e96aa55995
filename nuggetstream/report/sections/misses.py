"""Misses and their causes.

When an answer misses a nugget, is the search or the writing to blame?
"""

from collections.abc import Sequence

from nuggetstream.domain.offline import GROUNDED
from nuggetstream.figures.charts import BLUE, GREY, ORANGE, YELLOW, share_axis, shares_figure
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, part_of, percent
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.numbers.misses import ALL, CAUSES, VITAL, Misses, SystemMisses, compute_misses
from nuggetstream.report.section import Content, Part, Section

_COLOURS = dict(zip(CAUSES, (BLUE, ORANGE, YELLOW, GREY), strict=True))


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
        findings=(),  # which system misses the most rests on grounded nuggets alone
        reading="Generation: one of the answer's own sources states the nugget, but the answer does not "
        "use it. Retrieval: a source of the battle states it, but none of the answer's own sources. "
        "Unsourced: only the other answer states it, in results without grounding. Claims that no source "
        "confirms, or that are disputed, are missed by nobody and count in no share. The bars are shares of "
        "the other labelled nuggets, so the length of a bar is the miss rate. It is no measure of which "
        f"system is better. {GROUNDED.words}",
        basis=part_of(with_labels, misses.systems, "systems with labels"),
        blocks=tuple(blocks),
    )


def _chart(which: str, rows: Sequence[Misses]) -> Figure:
    axis = share_axis("missed, of labelled nuggets without claims")
    shares = {row.system: (row.causes, row.facts) for row in rows}
    return shares_figure(f"Missed nuggets by cause: {which}", axis, shares, _COLOURS)


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
    return Table(
        caption="Missed nuggets per system",
        columns=("system", "which", "answers", "labelled", "claims", "missed", *CAUSES),
        rows=cells,
        text_columns=(1,),
        folded=True,
    )


SECTION = Section(
    name="misses",
    title="Misses and their causes",
    question="When an answer misses a nugget, is the search or the writing to blame?",
    parts=(Part("misses", compute_misses, draw),),
)
