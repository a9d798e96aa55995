"""Evaluators combined: does a panel, or a cheap evaluator that passes on what it is unsure of, do better?

What is chosen, the threshold of a cascade and the best combination, is chosen on half of the topics. Every
number that is reported is from the other half, which the choice has not seen.

Source: Stone, 1974 (choosing on other data); Viola and Jones, 2001 (cascades); Condorcet, 1785 (majorities).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.agreement import credit, share_interval

_SEED = 791
_DIGITS = 12  # shares that are equal to this many decimal places are equal
_SMALLEST_PANEL, _LARGEST_PANEL = 3, 5


@dataclass(frozen=True, slots=True)
class Voter:
    """What one evaluator says about n battles.

    Attributes:
        name: Name of the evaluator.
        votes: n votes.
        margins: n numbers in [0, 1]: how clear each vote is. Empty where it does not tell.
        calls: Model calls of a battle; None where they are not known.
    """

    name: str
    votes: Sequence[Vote]
    margins: Sequence[float] = ()
    calls: float | None = None


@dataclass(frozen=True, slots=True)
class Combination:
    """One way to decide battles, and how often people share its decisions.

    Attributes:
        name: The evaluators, "x, y, z" of a panel and "x, else y" of a cascade.
        kind: "single", "panel" or "cascade".
        threshold: Smallest margin with which the first evaluator of a cascade decides alone; None where it
            never does, and for the other kinds.
        chosen_on: Share right on the half that the choice is made on, in [0, 1].
        share: Share right on the other half, in [0, 1]; a predicted tie counts half.
        low: Lower bound of its 95% interval.
        high: Upper bound.
        saved: Share of the battles of the other half in which the dearer evaluator of a cascade is not asked,
            in [0, 1]; None for the other kinds.
        best: Whether it is the best one on the half that the choice is made on.
    """

    name: str
    kind: str
    threshold: float | None
    chosen_on: float
    share: float
    low: float
    high: float
    saved: float | None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Combinations:
    """All combinations of some evaluators, on the same battles.

    Attributes:
        chosen_on: Battles of the half that the choice is made on, and its topics.
        reported_on: Battles of the other half, and its topics.
        rows: Single evaluators, then panels, then cascades; empty where a half has no battle.
    """

    chosen_on: tuple[int, int]
    reported_on: tuple[int, int]
    rows: tuple[Combination, ...]


def held_out(topic: str) -> bool:
    """Whether a topic is in the half that is reported on; by its hash, so that it is always the same half.

    >>> [held_out(topic) for topic in ("tides", "rivers", "dunes")]
    [False, True, True]
    """
    return hashlib.sha256(topic.encode()).digest()[0] % 2 == 1


def majority(votes: Sequence[Vote]) -> Vote:
    """The vote of more than half of a panel, else a tie; "both bad" counts as a tie.

    >>> majority([Vote.A, Vote.B, Vote.A]), majority([Vote.A, Vote.B, Vote.TIE])
    (<Vote.A: 'a'>, <Vote.TIE: 'tie'>)
    """
    ((winner, count), *_) = Counter(vote.preference for vote in votes).most_common()
    return winner if 2 * count > len(votes) else Vote.TIE


def combine(voters: Sequence[Voter], people: Sequence[Vote], topics: Sequence[str]) -> Combinations:
    """Every evaluator alone, every panel of three or five, and every cascade of two.

    In a cascade the first evaluator decides where its margin is at least t, else the second is asked. A
    cascade is left out where its first evaluator is known to need more calls than its second one.

    Args:
        voters: Evaluators, each with a vote on every battle.
        people: What people prefer, one decision per battle: no ties.
        topics: One topic per battle; battles about one topic are on the same side of the split, and are
            resampled together.

    Returns:
        The share right of each combination with its interval, higher is better.

    Raises:
        ValueError: The sequences differ in length, or people call a battle a tie.
    """
    if any(vote.is_tie for vote in people):
        raise ValueError("a battle that people call a tie has no right decision")
    last = np.array([held_out(topic) for topic in topics], dtype=bool)
    chosen, reported = (_size(side, topics) for side in (~last, last))
    if not voters or not chosen[0] or not reported[0]:
        return Combinations(chosen, reported, rows=())
    right = {
        voter.name: np.array([credit(v, p) for v, p in zip(voter.votes, people, strict=True)])
        for voter in voters
    }
    own_topics = [topic for topic, out in zip(topics, last, strict=True) if out]
    rows = [
        _combination(own, last, own_topics)
        for own in (
            *(_Decided(voter.name, "single", right[voter.name]) for voter in voters),
            *_panels(voters, people),
            *_cascades(voters, right, ~last),
        )
    ]
    best = max(range(len(rows)), key=lambda index: round(rows[index].chosen_on, _DIGITS))
    rows[best] = replace(rows[best], best=True)
    return Combinations(chosen, reported, rows=tuple(rows))


def _size(side: NDArray[np.bool_], topics: Sequence[str]) -> tuple[int, int]:
    return int(side.sum()), len({topic for topic, own in zip(topics, side, strict=True) if own})


@dataclass(frozen=True, slots=True)
class _Decided:
    """How far each battle is decided right by a combination."""

    name: str
    kind: str
    right: NDArray[np.float64]
    threshold: float | None = None
    alone: NDArray[np.bool_] | None = None


def _panels(voters: Sequence[Voter], people: Sequence[Vote]) -> Iterator[_Decided]:
    for size in (_SMALLEST_PANEL, _LARGEST_PANEL):
        for panel in combinations(voters, size):
            votes = [majority(of_battle) for of_battle in zip(*(voter.votes for voter in panel), strict=True)]
            right = np.array([credit(v, p) for v, p in zip(votes, people, strict=True)])
            yield _Decided(", ".join(voter.name for voter in panel), "panel", right)


def _cascades(
    voters: Sequence[Voter], right: dict[str, NDArray[np.float64]], fit: NDArray[np.bool_]
) -> Iterator[_Decided]:
    for first, second in permutations(voters, 2):
        dearer = first.calls is not None and second.calls is not None and first.calls > second.calls
        if not first.margins or dearer:
            continue
        margins = np.array(first.margins)
        threshold = best_threshold(margins[fit], right[first.name][fit], right[second.name][fit])
        alone = np.zeros(len(margins), dtype=bool) if threshold is None else margins >= threshold
        decided = np.where(alone, right[first.name], right[second.name])
        yield _Decided(f"{first.name}, else {second.name}", "cascade", decided, threshold, alone)


def best_threshold(
    margins: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> float | None:
    """The margin from which on the first evaluator should decide alone.

    It maximises the mean of `first` where the margin is at least the threshold, and of `second` elsewhere.
    Of several maxima it is the lowest, with which the second evaluator is asked least.

    Args:
        margins: (n,) margins of the first evaluator.
        first: (n,) how far it is right, in [0, 1].
        second: (n,) how far the second one is.

    Returns:
        One of the margins; None where the second evaluator should always be asked.

    >>> best_threshold(np.array([0.1, 0.5, 0.9]), np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0]))
    0.5
    """
    threshold: float | None = None
    best = round(float(second.sum()), _DIGITS)
    for candidate in np.unique(margins)[::-1]:
        total = round(float(np.where(margins >= candidate, first, second).sum()), _DIGITS)
        if total >= best:
            best, threshold = total, float(candidate)
    return threshold


def _combination(own: _Decided, last: NDArray[np.bool_], topics: Sequence[str]) -> Combination:
    low, high = share_interval(own.right[last], topics, np.random.default_rng(_SEED))
    return Combination(
        name=own.name,
        kind=own.kind,
        threshold=own.threshold,
        chosen_on=float(own.right[~last].mean()),
        share=float(own.right[last].mean()),
        low=low,
        high=high,
        saved=None if own.alone is None else float(own.alone[last].mean()),
    )
