"""The tie band of a judge: how close the probabilities of A and B must be for people to call it a tie."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.nuggets.preference import NoThreshold, threshold_by_kappa
from nuggetstream.nuggets.scores import preference
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class TieBand:
    """A tie band chosen by people's votes, and what it is worth.

    Attributes:
        band: Largest difference of the probabilities of A and B that counts as a tie, in [0, 1].
        battles: Number of battles it was chosen on.
        kappa: Quadratically weighted kappa with people, each battle with a band chosen on other battles; None
            where it is undefined.
        kappa_decided: The same for the verdicts as they were given; None where it is undefined.
    """

    band: float
    battles: int
    kappa: float | None
    kappa_decided: float | None


def tie_band(leads: Sequence[float], decided: Sequence[Vote], human: Sequence[Vote]) -> TieBand | None:
    """Choose the tie band with the highest weighted kappa.

    The battles are divided into five parts, every fifth one each. The agreement reported for a part uses the
    band of the four others, so it is not flattered by the choice.

    Args:
        leads: Probability of A minus that of B per battle, in [-1, 1].
        decided: The judge's verdicts as given.
        human: People's votes; battles that are "both bad" are left out.

    Returns:
        The band; None where there are too few battles to choose one.

    Raises:
        ValueError: The sequences differ in length, or a difference is out of range.

    Source: Cohen, 1968 (the kappa); Stone, 1974 (choosing on other data).
    """
    rows = [row for row in zip(leads, decided, human, strict=True) if row[2] is not Vote.BOTH_BAD]
    try:
        band = threshold_by_kappa([row[0] for row in rows], [row[2] for row in rows]).threshold
        apart = _apart(rows)
    except NoThreshold:
        return None
    votes = [row[2] for row in rows]
    return TieBand(
        band=band,
        battles=len(rows),
        kappa=weighted_kappa(confusion_of(votes, apart)),
        kappa_decided=weighted_kappa(confusion_of(votes, [row[1] for row in rows])),
    )


def _apart(rows: Sequence[tuple[float, Vote, Vote]]) -> list[Vote]:
    """The verdict of each battle under the band of the other parts."""
    bands = []
    for part in range(_FOLDS):
        others = [row for index, row in enumerate(rows) if index % _FOLDS != part]
        bands.append(threshold_by_kappa([row[0] for row in others], [row[2] for row in others]).threshold)
    return [preference(row[0], 0.0, bands[index % _FOLDS]) for index, row in enumerate(rows)]
