"""Does the order in which answers or items are shown change the votes?

Within an item the order is which answer was shown first; across items it is the position of the item in
the questionnaire.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import scipy  # loads scipy.stats, which takes a second, only when it is used

from nuggetstream.domain.battle import Vote

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class PositionPreference:
    """How often the answer shown first is preferred.

    Attributes:
        first: Number of votes for the answer shown first.
        second: Number of votes for the answer shown second.
        ties: Number of votes for neither; they are left out of the share.
        share: first / (first + second), ½ without a position effect; None when all votes are ties.
        p_value: p-value of the exact two-sided binomial test of ½; None when all votes are ties.
    """

    first: int
    second: int
    ties: int
    share: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """Reliability of every group alone and of all groups together.

    Attributes:
        groups: Reliability by name of the group; None where it is undefined.
        pooled: Reliability of all units together; None where it is undefined.
        delta: Largest |pooled - group|, 0 without an order effect; None where any of the values is undefined.
    """

    groups: Mapping[str, float | None]
    pooled: float | None
    delta: float | None


def position_preference(votes: Sequence[Vote]) -> PositionPreference:
    """Preference for the first position, from votes in which A is the answer shown first.

    The test assumes independent votes; where one person gives many votes, rely on the share, not on p.

    Args:
        votes: One vote per comparison shown; ties and "both bad" favour no position.

    Returns:
        Counts, the share in [0, 1] and its p-value; share and p-value are None when all votes are ties.

    Source: Clopper and Pearson, 1934; scipy.stats.binomtest.

    >>> position_preference([Vote.A, Vote.A, Vote.B, Vote.TIE]).share
    0.6666666666666666
    """
    first, second = votes.count(Vote.A), votes.count(Vote.B)
    ties = len(votes) - first - second
    if not first + second:
        return PositionPreference(0, 0, ties, None, None)
    test = scipy.stats.binomtest(first, first + second)
    return PositionPreference(first, second, ties, first / (first + second), float(test.pvalue))


def order_effect(
    groups: Mapping[str, Sequence[Unit]],
    pooled: Sequence[Unit],
    reliability: Callable[[Sequence[Unit]], float | None],
) -> OrderEffect:
    """Reliability per group compared with the reliability of all groups together.

    For effects within items the groups are the two orders, and the pooled units hold the votes of both
    orders after `Vote.swapped`. For effects across items the groups are the early and the late part of a
    questionnaire.

    Args:
        groups: The units of each group, by name of the group.
        pooled: The units of all groups together.
        reliability: Function from units to a coefficient such as Krippendorff's alpha, None where undefined.

    Returns:
        The reliabilities and the largest |pooled - group| in the unit of the coefficient; lower is better.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
    """
    alone = {name: reliability(units) for name, units in groups.items()}
    together = reliability(pooled)
    gaps = [abs(together - value) for value in alone.values() if together is not None and value is not None]
    complete = bool(alone) and len(gaps) == len(alone)
    return OrderEffect(alone, together, max(gaps) if complete else None)
