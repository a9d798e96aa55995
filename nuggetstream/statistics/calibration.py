"""Are probabilities right? Of what a model calls 80% probable, do four fifths come true?

Source: Brier, "Verification of forecasts expressed in terms of probability", 1950, for the Brier score; Guo
et al., "On Calibration of Modern Neural Networks", 2017 (arXiv:1706.04599), for bins of the most probable
class and the expected calibration error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from nuggetstream.statistics.share import Share, share

BINS = 10
_SUM_ERROR = 0.02  # by which probabilities may miss 1, since endpoints round them


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases whose most probable class has a probability in one interval.

    Attributes:
        low: Lower bound of the interval, which belongs to it.
        high: Upper bound, which belongs to it only where it is 1.
        confidence: Mean probability of the most probable class.
        right: Cases in which that class came true, of all in the bin.
    """

    low: float
    high: float
    confidence: float
    right: Share


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well probabilities fit what happened.

    Attributes:
        cases: Number of cases.
        confidence: Mean probability of the most probable class; None without cases.
        right: Cases in which the most probable class came true.
        error: Expected calibration error, in [0, 1]: the mean over the bins, weighted by their cases, of the
            distance between confidence and share of right ones. 0 is best; None without cases.
        brier: Brier score over all classes, in [0, 2], lower is better; None without cases.
        brier_of_shares: Brier score of somebody who always names the shares of the classes among these very
            cases. Probabilities that are not below it tell nothing. None without cases.
        bins: The bins that have cases, by confidence.
    """

    cases: int
    confidence: float | None
    right: Share
    error: float | None
    brier: float | None
    brier_of_shares: float | None
    bins: tuple[Bin, ...]


def calibration(
    probabilities: Sequence[Sequence[float]], outcomes: Sequence[int], bins: int = BINS
) -> Calibration:
    """Compare probabilities with what happened.

    Args:
        probabilities: (cases, classes) in [0, 1]; each row adds up to 1 within 0.02.
        outcomes: (cases,) index of the class that came true.
        bins: Number of intervals of equal width between 0 and 1.

    Raises:
        ValueError: Both are not of the same length, a row is not a distribution, or an outcome is no class.

    >>> found = calibration([[0.8, 0.2], [0.8, 0.2]], [0, 1])
    >>> round(found.error, 2), round(found.brier, 2), found.brier_of_shares
    (0.3, 0.68, 0.5)
    """
    if len(probabilities) != len(outcomes):
        raise ValueError(f"{len(probabilities)} rows of probabilities do not fit {len(outcomes)} outcomes")
    for row, outcome in zip(probabilities, outcomes, strict=True):
        _check(row, outcome)
    if not outcomes:
        return Calibration(
            cases=0, confidence=None, right=share(0, 0), error=None, brier=None, brier_of_shares=None, bins=()
        )
    tops = [max(range(len(row)), key=row.__getitem__) for row in probabilities]
    cases = [
        (float(row[top]), top == outcome)
        for row, top, outcome in zip(probabilities, tops, outcomes, strict=True)
    ]
    binned = tuple(_bins(cases, bins))
    base = [outcomes.count(index) / len(outcomes) for index in range(len(probabilities[0]))]
    return Calibration(
        cases=len(cases),
        confidence=sum(confidence for confidence, _ in cases) / len(cases),
        right=share(sum(right for _, right in cases), len(cases)),
        error=sum(bin_.right.of * abs(bin_.confidence - (bin_.right.value or 0.0)) for bin_ in binned)
        / len(cases),
        brier=_brier(probabilities, outcomes),
        brier_of_shares=_brier([base] * len(outcomes), outcomes),
        bins=binned,
    )


def _bins(cases: Sequence[tuple[float, bool]], count: int) -> "list[Bin]":
    by_bin: dict[int, list[tuple[float, bool]]] = {}
    for case in cases:
        by_bin.setdefault(min(int(case[0] * count), count - 1), []).append(case)
    return [
        Bin(
            low=index / count,
            high=(index + 1) / count,
            confidence=sum(confidence for confidence, _ in inside) / len(inside),
            right=share(sum(right for _, right in inside), len(inside)),
        )
        for index, inside in sorted(by_bin.items())
    ]


def _brier(probabilities: Sequence[Sequence[float]], outcomes: Sequence[int]) -> float:
    return sum(
        sum((probability - (index == outcome)) ** 2 for index, probability in enumerate(row))
        for row, outcome in zip(probabilities, outcomes, strict=True)
    ) / len(outcomes)


def _check(row: Sequence[float], outcome: int) -> None:
    if not all(isfinite(value) and 0 <= value <= 1 for value in row) or abs(sum(row) - 1) > _SUM_ERROR:
        raise ValueError(f"{list(row)} are not the probabilities of all classes")
    if not 0 <= outcome < len(row):
        raise ValueError(f"class {outcome} is none of {len(row)}")
