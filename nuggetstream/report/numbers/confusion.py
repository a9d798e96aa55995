"""People against nuggets and against the judge, battle by battle."""

from dataclasses import dataclass

from nuggetstream.report.rows import Results
from nuggetstream.report.summary import PREDICTORS
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

MACHINES = {"nugget": PREDICTORS["nugget preference"], "judge": PREDICTORS["judge"]}


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
    lens: str
    counts: tuple[tuple[int, ...], ...]
    compared: int
    labelled: int
    received: int
    same: int
    kappa: float | None


def compute(results: Results) -> tuple[Confusion, ...]:
    """A matrix per human dimension and machine lens."""
    return tuple(_one(results, dimension, lens) for dimension in results.dimensions for lens in MACHINES)


def _one(results: Results, dimension: str, lens: str) -> Confusion:
    labelled = [battle for battle in results.battles if dimension in battle.reference]
    pairs = [(b.reference[dimension], vote) for b in labelled if (vote := MACHINES[lens](b)) is not None]
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
