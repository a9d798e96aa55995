"""From two nugget scores to a preference: the tie threshold, how to choose it, and how sure it is.

Everywhere a margin is the score of A minus the score of B, in [-1, 1], and |margin| equal to the
threshold is a tie.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.nuggets.scores import Unscorable, preference
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

Floats = NDArray[np.float64]

_DIGITS = 12  # that count when equals are looked for; the rest is rounding
_TIE = 1  # row and column of a tie in a (3, 3) confusion over A, tie, B


class NoThreshold(ValueError):
    """The battles cannot choose a threshold: none at all, or none that people call a tie."""


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """What one threshold makes of the battles.

    Attributes:
        threshold: in [0, 1].
        confusion: (3, 3) counts, rows human, columns nugget preference, over A, tie, B.
        kappa: quadratic weights; None where kappa has no answer.
        tie_share: share of all battles that the threshold calls a tie.
    """

    threshold: float
    confusion: Floats
    kappa: float | None
    tie_share: float

    @property
    def tie_row_shares(self) -> Floats:
        """(3,) shares of A, tie, B among the battles people call a tie; NaN without such a battle."""
        row = self.confusion[_TIE]
        return np.asarray(row / row.sum() if row.sum() else np.full(3, np.nan))


@dataclass(frozen=True, slots=True)
class PreferenceProbability:
    """How often each outcome comes out when the nuggets are drawn again; the three sum to 1."""

    a: float
    tie: float
    b: float

    @property
    def likeliest(self) -> Vote:
        """The most frequent outcome; a tie where no outcome is more frequent than every other."""
        best = max(self.a, self.tie, self.b)
        winners = [v for v, p in ((Vote.A, self.a), (Vote.TIE, self.tie), (Vote.B, self.b)) if p == best]
        return winners[0] if len(winners) == 1 else Vote.TIE


def sweep(
    margins: Sequence[float], human: Sequence[Vote], thresholds: Iterable[float]
) -> list[ThresholdPoint]:
    """Agreement with people at every threshold, in the order given.

    Args:
        margins: one per battle, in [-1, 1].
        human: one vote per battle; "both bad" battles are left out, for they say nothing about which
            answer is better.
        thresholds: in [0, 1].

    Returns:
        A point per threshold: counts, share of ties in [0, 1], kappa in [-1, 1], higher is better.

    Raises:
        NoThreshold: no battle is left.
        ValueError: sequences of different length, a margin or a threshold out of range.

    Source: Sharifymoghaddam et al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).

    >>> points = sweep([0.3, 0.1, -0.3], [Vote.A, Vote.TIE, Vote.B], [0.0, 0.1])
    >>> [round(point.tie_share, 2) for point in points], points[1].kappa
    ([0.0, 0.33], 1.0)
    """
    rows = [(m, h) for m, h in zip(margins, human, strict=True) if h is not Vote.BOTH_BAD]
    if not rows:
        raise NoThreshold("no battle with a preference or a tie")
    if not all(-1 <= margin <= 1 for margin, _ in rows):
        raise ValueError("a margin lies outside [-1, 1]")
    return [_point(rows, threshold) for threshold in thresholds]


def threshold_by_equal_split(margins: Sequence[float], human: Sequence[Vote]) -> ThresholdPoint:
    """The threshold under which battles that people call a tie split most evenly over A, tie and B.

    It minimises Σ (share - 1/3)² over the three cells of the human-tie row. Only a battle's own
    |margin| can change a count, so those (and 0) are all the candidates; the lowest wins among equals.
    A tie row that leans to one side beyond repair is visible in the point returned.

    Raises:
        NoThreshold: no battle that people call a tie.
        ValueError: as `sweep`.

    Source: Sharifymoghaddam et al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).
    """
    if Vote.TIE not in human:
        raise NoThreshold("people call no battle a tie")
    points = sweep(margins, human, _candidates(margins, human))
    return min(points, key=lambda point: round(float(((point.tie_row_shares - 1 / 3) ** 2).sum()), _DIGITS))


def threshold_by_kappa(margins: Sequence[float], human: Sequence[Vote]) -> ThresholdPoint:
    """The threshold with the highest quadratic kappa with people; the lowest among equals.

    Raises:
        NoThreshold: no battle, or kappa has no answer at any threshold.
        ValueError: as `sweep`.

    Source: Cohen, 1968 (the kappa).
    """
    points = [
        point for point in sweep(margins, human, _candidates(margins, human)) if point.kappa is not None
    ]
    if not points:
        raise NoThreshold("kappa has no answer at any threshold")
    return max(points, key=lambda point: round(point.kappa or 0.0, _DIGITS))


def preference_probability(
    credit_a: Floats, credit_b: Floats, threshold: float, rng: np.random.Generator, resamples: int = 1000
) -> PreferenceProbability:
    """How sure a battle's preference is, by drawing its nuggets again with replacement.

    Nuggets are a sample of what a good answer needs; another extraction would have found others. Each
    resample draws n nuggets, takes the mean difference of credit and applies the threshold.

    Args:
        credit_a: (n,) credit of each nugget in answer A, in [0, 1].
        credit_b: (n,) likewise in answer B.
        threshold: |margin| up to it is a tie.
        rng: source of randomness.
        resamples: how many, at least 1.

    Returns:
        Three shares of the resamples, each in [0, 1], that sum to 1.

    Raises:
        Unscorable: fewer than two nuggets; one nugget drawn again is always itself, which would look
            like certainty.
        ValueError: credits of different length or out of range, or no resample.

    Source: Efron, 1979 (the bootstrap).
    """
    a, b = np.asarray(credit_a, dtype=float), np.asarray(credit_b, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"one credit per nugget and side, not {a.shape} and {b.shape}")
    if not (((a >= 0) & (a <= 1)).all() and ((b >= 0) & (b <= 1)).all()) or resamples < 1:
        raise ValueError("credits lie in [0, 1] and there is at least one resample")
    if len(a) < 2:
        raise Unscorable(f"{len(a)} nuggets cannot be resampled")
    times = rng.multinomial(len(a), np.full(len(a), 1 / len(a)), size=resamples)
    votes = [preference(margin, 0.0, threshold) for margin in times @ (a - b) / len(a)]
    share = {vote: votes.count(vote) / resamples for vote in (Vote.A, Vote.TIE, Vote.B)}
    return PreferenceProbability(share[Vote.A], share[Vote.TIE], share[Vote.B])


def _point(rows: Sequence[tuple[float, Vote]], threshold: float) -> ThresholdPoint:
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold {threshold} lies outside [0, 1]")
    computed = [preference(margin, 0.0, threshold) for margin, _ in rows]
    confusion = confusion_of([vote for _, vote in rows], computed)
    ties = float(confusion[:, _TIE].sum() / len(rows))
    return ThresholdPoint(threshold, confusion, weighted_kappa(confusion), ties)


def _candidates(margins: Sequence[float], human: Sequence[Vote]) -> list[float]:
    counted = (abs(m) for m, h in zip(margins, human, strict=True) if h is not Vote.BOTH_BAD)
    return sorted({0.0, *counted})
