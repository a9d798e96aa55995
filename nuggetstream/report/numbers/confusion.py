"""Confusion: when people prefer A, what do the nuggets and the judge say?"""

from dataclasses import dataclass

from nuggetstream.domain.lens import Lens
from nuggetstream.files.results import Results
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa


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


def compute_confusion(results: Results) -> tuple[Confusion, ...]:
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
