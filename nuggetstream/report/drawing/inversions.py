"""Inversions by language and category."""

from nuggetstream.report.blocks import Block, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import (
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    interval,
    names_axis,
    offset,
    rows_height,
    share_axis,
)
from nuggetstream.report.drawing.words import FEW_NOTE, dimension_name, of, share_of, span, whole
from nuggetstream.report.numbers.confusion import MACHINES
from nuggetstream.report.numbers.inversions import Inversions, Slice

_SHOWN = 25  # slices in the figure; the table and report.json have them all
_ROW = 44


def draw(found: Inversions) -> Section:
    """Rates with intervals, all slices in a table."""
    blocks: list[Block] = []
    shown = [each for each in found.slices if any(x.value is not None for x in each.inverted.values())]
    if shown:
        blocks.append(Figures("", {"": (_chart(shown[:_SHOWN]),)}))
    if found.slices:
        blocks.append(_table(found))
    else:
        blocks.append(State("No battle has a human preference: there is nothing to invert."))
    if found.slices and not found.has_categories:
        blocks.append(State("No battle carries a “category:” tag, so there are no slices by category."))
    return Section(
        name="inversions",
        title="Inversions",
        question="Where does the machine prefer the very answer that people reject?",
        finding=_finding(found),
        reading="An inversion is a battle in which people and machine both prefer an answer, and not "
        "the same. The rate is of those battles; ties are left out. Lines are 95% Wilson intervals. “Of "
        "all” counts ties and “both bad” among the battles, as published rates of inversions do. A slice "
        "whose interval lies apart from the others deserves a look at its battles.",
        basis=of(found.labelled, found.received),
        blocks=tuple(blocks),
    )


def _finding(found: Inversions) -> str:
    if not found.slices or found.dimension is None:
        return ""
    whole_file = found.slices[0].inverted
    parts = [
        f"the {lens} lens inverts {share_of(x)}" for lens, x in whole_file.items() if x.value is not None
    ]
    return f"On {dimension_name(found.dimension)}, {' and '.join(parts)}." if parts else ""


def _name(each: Slice) -> str:
    return each.name if each.by == "all" else f"{each.by}: {each.name}"


def _chart(shown: list[Slice]) -> Figure:
    traces = []
    for place, lens in enumerate(MACHINES):
        own = [(i, x) for i, each in enumerate(shown) if (x := each.inverted[lens]).value is not None]
        traces.append(
            interval(
                lens,
                [x.value or 0.0 for _, x in own],
                [i + offset(place, len(MACHINES), 0.3) for i, _ in own],
                [x.low or 0.0 for _, x in own],
                [x.high or 0.0 for _, x in own],
                marker={"color": LENS_COLOURS[lens], "symbol": LENS_SYMBOLS[lens], "size": 11},
                customdata=[(x.count, x.of) for _, x in own],
                hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})",
            )
        )
    alt = "; ".join(
        f"{_name(each)}: " + ", ".join(f"{lens} {share_of(x)}" for lens, x in each.inverted.items())
        for each in shown
    )
    most = max(x.high for each in shown for x in each.inverted.values() if x.high is not None)
    layout = {
        "yaxis": names_axis([_name(each) for each in shown]),
        "xaxis": share_axis("inverted, of battles decided by both", range=[-0.03 * most, 1.05 * most]),
    }
    return figure("Inversion rate", alt, traces, rows_height(len(shown), _ROW), layout)


def _table(found: Inversions) -> Table:
    rows = []
    for each in found.slices:
        cells: list[str] = []
        for lens, x in each.inverted.items():
            cells += (share_of(x), span(x.low, x.high), share_of(each.of_all[lens]))
        rows.append((_name(each), whole(each.battles), *cells))
    per_lens = [head for lens in MACHINES for head in (f"{lens} inversions", "95%", "of all")]
    columns = ("slice", "battles", *per_lens)
    return Table("All slices", columns, rows, FEW_NOTE, folded=len(rows) > 12)
