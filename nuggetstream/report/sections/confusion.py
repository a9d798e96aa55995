"""Confusion: when people prefer A, what do the nuggets and the judge say?"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.lens import Lens
from nuggetstream.files.numerals import integer, number, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import DARK_INK, figure
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.report.section import Content, Part
from nuggetstream.report.wording import NO_PREFERENCE, dimension_name
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

_NAMES = ["A", "tie", "B"]
_SCALE = [[0, "#f1f6fa"], [1, "#5aa2d4"]]  # light enough for dark ink in every theme


@dataclass(frozen=True, slots=True)
class Confusion:
    """One automatic lens against one human dimension.

    Attributes:
        dimension: Name of the human dimension.
        lens: The automatic lens.
        counts: 3 x 3; rows are what people say (A, tie, B), columns what the lens says.
        compared: Battles where both are known.
        labelled: Battles where people have a preference, ties included.
        received: All battles.
        same: Battles in which both say the same, ties included.
        kappa: Weighted with squared distances; None where chance alone would agree perfectly.
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
    """A matrix per human dimension and automatic lens."""
    return tuple(
        _confusion(results, dimension, lens) for dimension in results.dimensions for lens in AUTOMATIC
    )


def _confusion(results: Results, dimension: str, lens: Lens) -> Confusion:
    labelled = [battle for battle in results.battles if dimension in battle.preferences]
    pairs = [
        (battle.preferences[dimension], vote)
        for battle in labelled
        if (vote := battle.vote(lens)) is not None
    ]
    matrix = confusion_of([human for human, _ in pairs], [automatic for _, automatic in pairs])
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


def draw(confusions: Sequence[Confusion]) -> Content:
    """A pair of matrices per human dimension, and kappa for all of them."""
    options: dict[str, tuple[Figure, ...]] = {}
    for confusion in confusions:
        if confusion.compared:
            name = dimension_name(confusion.dimension)
            options[name] = (*options.get(name, ()), _matrix(confusion))
    blocks: list[Block] = [Figures("Human dimension", options)] if options else []
    blocks.append(_table(confusions) if confusions else NotMeasured("confusion matrices", NO_PREFERENCE))
    compared = (f"{each.lens} {part_of(each.compared, each.received, 'battles')}" for each in confusions[:2])
    return Content(
        findings=_findings(confusions),
        reading="Rows are what people say, columns what the lens says. The diagonal is agreement; the "
        "corners off the diagonal are inversions. Weighted kappa is agreement beyond chance: 1 is perfect, "
        "0 is what chance gives. Confusing A with B costs four times as much as confusing either with a "
        "tie.",
        basis=", ".join(compared) or "0 battles",
        blocks=tuple(blocks),
    )


def _findings(confusions: Sequence[Confusion]) -> tuple[str, ...]:
    kappas = [
        f"{number(each.kappa, 2)} for the {each.lens} lens"
        for each in confusions[:2]
        if each.kappa is not None
    ]
    if not kappas:
        return ()
    return (f"On {dimension_name(confusions[0].dimension)}, weighted kappa is {' and '.join(kappas)}.",)


def _matrix(confusion: Confusion) -> Figure:
    totals = [sum(row) for row in confusion.counts]
    shares = [
        [count / total if total else 0 for count in row]
        for row, total in zip(confusion.counts, totals, strict=True)
    ]
    text = [
        [f"{count}<br>{percent(share, 0)}" if total else "0" for count, share in zip(row, part, strict=True)]
        for row, part, total in zip(confusion.counts, shares, totals, strict=True)
    ]
    heat = go.Heatmap(
        z=shares,
        x=_NAMES,
        y=_NAMES,
        text=text,
        texttemplate="%{text}",
        textfont={"size": 15, "color": DARK_INK},
        colorscale=_SCALE,
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=3,
        ygap=3,
        hovertemplate=f"people: %{{y}}, {confusion.lens}: %{{x}}<br>%{{text}}<extra></extra>",
    )
    layout = {
        "xaxis": {"title": {"text": f"{confusion.lens} lens"}, "side": "bottom", "showgrid": False},
        "yaxis": {"title": {"text": "people"}, "autorange": "reversed", "showgrid": False},
        "margin": {"l": 8, "r": 8, "t": 30, "b": 40},
    }
    alt = f"rows are people, columns the {confusion.lens} lens, in the order A, tie, B: {confusion.counts}"
    compared = part_of(confusion.compared, confusion.labelled, "battles")
    title = f"{confusion.lens.capitalize()} lens: kappa {number(confusion.kappa, 2)}, {compared}"
    return figure(title, alt, [heat], 320, layout)


def _table(confusions: Sequence[Confusion]) -> Table:
    rows = [
        (
            dimension_name(each.dimension),
            each.lens,
            number(each.kappa, 2),
            percent(each.same / each.compared if each.compared else None),
            part_of(each.compared, each.labelled),
            integer(sum(each.counts[1])),
        )
        for each in confusions
    ]
    columns = ("dimension", "lens", "weighted kappa", "same preference", "compared of labelled", "human ties")
    note = (
        "A dash for kappa: nothing was compared, or all votes fall into one category, so that kappa is "
        "undefined."
    )
    return Table(
        caption="Kappa per dimension", columns=columns, rows=rows, note=note, text_columns=(1,), folded=True
    )


PART = Part("confusion", compute, draw)
