"""From two nugget scores to a preference: the tie threshold, how to choose it, and how certain the result is.

A margin is the score of A minus the score of B, in [-1, 1]. A |margin| equal to the threshold is a tie.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Assignment, Nugget
from nuggetstream.nuggets.scores import Unscorable, preference
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

Floats = NDArray[np.float64]

_DIGITS = 12  # values that are equal to this many decimal places are treated as equal
_DECIDABLE = (Vote.A, Vote.TIE, Vote.B)
_TIE = 1  # row and column of a tie in a (3, 3) confusion over A, tie, B


class NoThreshold(ValueError):
    """No threshold can be chosen: there are no battles, or none that people call a tie."""


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """Agreement with people under one threshold.

    Attributes:
        threshold: The threshold, in [0, 1].
        confusion: (3, 3) counts over A, tie, B; rows human, columns nugget preference.
        kappa: Quadratically weighted kappa, in [-1, 1]; None where it is undefined.
        tie_share: Share of all battles that the threshold calls a tie, in [0, 1].
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
    """Probability of each outcome of one battle; the three sum to 1."""

    a: float
    tie: float
    b: float

    @property
    def likeliest(self) -> Vote:
        """The most frequent outcome; a tie where two or three outcomes are equally frequent."""
        best = max(self.a, self.tie, self.b)
        winners = [v for v, p in ((Vote.A, self.a), (Vote.TIE, self.tie), (Vote.B, self.b)) if p == best]
        return winners[0] if len(winners) == 1 else Vote.TIE


def sweep(
    margins: Sequence[float], human: Sequence[Vote], thresholds: Iterable[float]
) -> list[ThresholdPoint]:
    """Agreement with people at every threshold, in the order given.

    Args:
        margins: One margin per battle, in [-1, 1].
        human: One vote per battle. Battles with the vote "both bad" are left out, because it does not say
            which answer is better.
        thresholds: Thresholds to try, each in [0, 1].

    Returns:
        One point per threshold: counts, share of ties in [0, 1], kappa in [-1, 1], higher is better.

    Raises:
        NoThreshold: No battle has a vote for A, B or a tie.
        ValueError: The sequences differ in length, or a margin or a threshold is out of range.

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

    It minimises Σ (share - 1/3)² over the three cells of the human-tie row. The counts change only at a
    battle's own |margin|, so the candidates are these values and 0; the lowest of several minima wins. A
    human-tie row that stays uneven under every threshold shows in the confusion of the point returned.

    Args:
        margins: One margin per battle, in [-1, 1].
        human: One vote per battle.

    Raises:
        NoThreshold: People call no battle a tie.
        ValueError: The sequences differ in length, or a margin is out of range.

    Source: Sharifymoghaddam et al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).
    """
    if Vote.TIE not in human:
        raise NoThreshold("people call no battle a tie")
    points = sweep(margins, human, _candidates(margins, human))
    return min(points, key=lambda point: round(float(((point.tie_row_shares - 1 / 3) ** 2).sum()), _DIGITS))


def threshold_by_kappa(margins: Sequence[float], human: Sequence[Vote]) -> ThresholdPoint:
    """The threshold with the highest quadratically weighted kappa; the lowest of several maxima.

    Args:
        margins: One margin per battle, in [-1, 1].
        human: One vote per battle.

    Raises:
        NoThreshold: There is no battle, or kappa is undefined at every threshold.
        ValueError: The sequences differ in length, or a margin is out of range.

    Source: Cohen, 1968 (the kappa).
    """
    points = [
        point for point in sweep(margins, human, _candidates(margins, human)) if point.kappa is not None
    ]
    if not points:
        raise NoThreshold("kappa is undefined at every threshold")
    return max(points, key=lambda point: round(point.kappa or 0.0, _DIGITS))


def preference_probability(
    credit_a: Floats, credit_b: Floats, threshold: float, rng: np.random.Generator, resamples: int = 1000
) -> PreferenceProbability:
    """Probability of each preference of one battle, by a bootstrap over its nuggets.

    The nuggets are a sample of the facts a good answer needs; another extraction would have found others.
    Each resample draws n nuggets with replacement, takes the mean difference of credit and applies the
    threshold.

    Args:
        credit_a: (n,) credit of each nugget in answer A, in [0, 1].
        credit_b: (n,) credit of each nugget in answer B, in [0, 1].
        threshold: Largest |margin| that counts as a tie.
        rng: Source of randomness.
        resamples: Number of resamples, at least 1.

    Returns:
        Three shares of the resamples, each in [0, 1], that sum to 1.

    Raises:
        Unscorable: There are fewer than two nuggets. Every resample of one nugget is the same, which would
            look like certainty.
        ValueError: The credits differ in length or are out of range, or `resamples` is below 1.

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


def preference_by_labels(
    nuggets: Sequence[Nugget], assignments: Sequence[Assignment], threshold: float
) -> PreferenceProbability | None:
    """Probability of each preference of one battle, from the probabilities of its labels.

    The labels are treated as independent, and the distribution of the margin of the All Scores is computed
    exactly: a nugget moves it by a multiple of half a nugget. It says how sure the assigner is of its labels;
    `preference_probability` says how much depends on the list.

    Args:
        nuggets: The nuggets of the battle, at least one.
        assignments: Their labels; those that a person set are certain.
        threshold: Largest |margin| that counts as a tie.

    Returns:
        Three probabilities that sum to 1; None unless every label has probabilities.

    Raises:
        Unscorable: There are no nuggets.
    """
    if not nuggets:
        raise Unscorable("no nuggets")
    shares_of = {(a.side, a.nugget_id): a.shares for a in assignments}
    halves = np.ones(1)  # distribution of the margin in halves of a nugget, from the lowest possible one up
    for nugget in nuggets:
        for side in Side:
            shares = shares_of.get((side, nugget.id))
            if shares is None:
                return None
            nothing = shares.not_support + (shares.contradiction or 0.0)
            credit = np.array([nothing, shares.partial_support, shares.support])
            halves = np.convolve(halves, credit if side is Side.A else credit[::-1])
    margins = (np.arange(len(halves)) - 2 * len(nuggets)) / (2 * len(nuggets))
    votes = np.array([preference(margin, 0.0, threshold).value for margin in margins])
    share = {vote: float(halves[votes == vote.value].sum() / halves.sum()) for vote in _DECIDABLE}
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
