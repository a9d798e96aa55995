"""People against nuggets and against the judge, battle by battle."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.lens import Lens
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import figure
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import dimension_name, number, of, percent, whole
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa


@dataclass(frozen=True, slots=True)
class Confusion:
    """One machine lens against one human dimension.

    Attributes:
        counts: 3 x 3; rows what people say (A, tie, B), columns what the lens says.
        compared: battles where both are known.
        labelled: battles where people say something.
        received: all battles.
        same: battles in which both say the same, ties included.
        kappa: quadratic weights; None where chance alone would agree perfectly.
    """

    dimension: str
    lens: Lens
    counts: tuple[tuple[int, ...], ...]
    compared: int
    labelled: int
    received: int
    same: int
    kappa: float | None


def compute(results: Results) -> tuple[Confusion, ...]:
    """A matrix per human dimension and machine lens."""
    return tuple(_one(results, dimension, lens) for dimension in results.dimensions for lens in AUTOMATIC)


def _one(results: Results, dimension: str, lens: Lens) -> Confusion:
    labelled = [battle for battle in results.battles if dimension in battle.preferences]
    pairs = [(b.preferences[dimension], vote) for b in labelled if (vote := b.vote(lens)) is not None]
    matrix = confusion_of([human for human, _ in pairs], [machine for _, machine in pairs])
    return Confusion(
        dimension=dimension,
        lens=lens,
        counts=tuple(tuple(int(count) for count in row) for row in matrix),
        compared=len(pairs),
        labelled=len(labelled),
        received=results.received,
        same=int(matrix.trace()),
        kappa=weighted_kappa(matrix),
    )


_NAMES = ["A", "tie", "B"]
# Light enough at its dark end for dark ink, which the cells carry in every theme.
_SCALE = [[0, "#f1f6fa"], [1, "#5aa2d4"]]
_INK = "#14181a"


def draw(found: Sequence[Confusion]) -> Content:
    """A pair of matrices per human dimension, and kappa for all of them."""
    options: dict[str, tuple[Figure, ...]] = {}
    for each in found:
        if each.compared:
            name = dimension_name(each.dimension)
            options[name] = (*options.get(name, ()), _matrix(each))
    blocks: list[Block] = [Figures("Human dimension", options)] if options else []
    blocks.append(_table(found) if found else State("No battle has a human preference: nothing to compare."))
    return Content(
        finding=_finding(found),
        reading="Rows are what people say, columns what the machine says; the diagonal is agreement, "
        "the two far corners are inversions. Weighted kappa is agreement beyond chance: 1 is perfect, 0 "
        "is chance. Confusing A with B costs four times as much as confusing either with a tie.",
        basis=", ".join(f"{x.lens} {of(x.compared, x.received)}" for x in found[:2]) or "0 battles",
        blocks=tuple(blocks),
    )


def _finding(found: Sequence[Confusion]) -> str:
    parts = [f"{number(x.kappa)} for the {x.lens} lens" for x in found[:2] if x.kappa is not None]
    if not parts:
        return ""
    return f"On {dimension_name(found[0].dimension)}, weighted kappa is {' and '.join(parts)}."


def _matrix(each: Confusion) -> Figure:
    totals = [sum(row) for row in each.counts]
    shares = [
        [n / total if total else 0 for n in row] for row, total in zip(each.counts, totals, strict=True)
    ]
    text = [
        [f"{n}<br>{share:.0%}" if total else "0" for n, share in zip(row, part, strict=True)]
        for row, part, total in zip(each.counts, shares, totals, strict=True)
    ]
    heat = go.Heatmap(
        z=shares,
        x=_NAMES,
        y=_NAMES,
        text=text,
        texttemplate="%{text}",
        textfont={"size": 15, "color": _INK},
        colorscale=_SCALE,
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
        hovertemplate="people: %{y}, machine: %{x}<br>%{text}<extra></extra>",
    )
    layout = {
        "xaxis": {"title": {"text": each.lens}, "side": "bottom", "showgrid": False},
        "yaxis": {"title": {"text": "people"}, "autorange": "reversed", "showgrid": False},
        "margin": {"l": 8, "r": 8, "t": 30, "b": 40},
    }
    alt = f"rows people, columns {each.lens}, in the order A, tie, B: {each.counts}"
    title = f"{each.lens}: kappa {number(each.kappa)}, {of(each.compared, each.labelled)}"
    return figure(title, alt, [heat], 320, layout)


def _table(found: Sequence[Confusion]) -> Table:
    rows = [
        (
            dimension_name(each.dimension),
            each.lens,
            number(each.kappa),
            percent(each.same / each.compared if each.compared else None),
            of(each.compared, each.labelled, ""),
            whole(sum(each.counts[1])),
        )
        for each in found
    ]
    columns = ("dimension", "lens", "weighted kappa", "same answer", "compared of labelled", "human ties")
    note = "A dash for kappa: everything lies in one category or nothing was compared, so it has no answer."
    return Table("All dimensions", columns, rows, note, text_columns=(1,), folded=True)


SECTION = Section(
    name="confusion",
    title="Confusion of people and machine",
    question="When people prefer A, what do the nuggets and the judge say?",
    compute=compute,
    draw=draw,
)
