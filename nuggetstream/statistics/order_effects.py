"""Does the order in which things are shown change the votes?

Within an item: which answer was shown first. Across items: how late in the questionnaire it came.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scipy import stats

from nuggetstream.domain.battle import Vote

Unit = TypeVar("Unit")
_SWAPPED = {Vote.A: Vote.B, Vote.B: Vote.A, Vote.TIE: Vote.TIE, Vote.BOTH_BAD: Vote.BOTH_BAD}


@dataclass(frozen=True, slots=True)
class PositionPreference:
    """How often the answer shown first is preferred.

    Attributes:
        first: votes for the answer shown first.
        second: votes for the one shown second.
        ties: neither; left out of the share.
        share: first / (first + second), ½ without an effect; None without a decision.
        p_value: exact two-sided binomial test of ½; None without a decision.
    """

    first: int
    second: int
    ties: int
    share: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """Reliability of every group alone and of all together.

    Attributes:
        groups: name -> reliability; None where it has no answer.
        pooled: of all units.
        delta: largest |pooled - group|; None as soon as one of them has no answer.
    """

    groups: Mapping[str, float | None]
    pooled: float | None
    delta: float | None


def position_preference(votes: Sequence[Vote]) -> PositionPreference:
    """Preference for the first position, from votes in which A is the answer shown first.

    The test takes votes as independent; where one person gives many, read the share rather than p.

    Args:
        votes: one per showing; ties and "both bad" favour no position.

    Returns:
        Share in [0, 1]; None without a decision.

    Source: Clopper and Pearson, 1934; scipy.stats.binomtest.

    >>> position_preference([Vote.A, Vote.A, Vote.B, Vote.TIE]).share
    0.6666666666666666
    """
    first, second = votes.count(Vote.A), votes.count(Vote.B)
    ties = len(votes) - first - second
    if not first + second:
        return PositionPreference(0, 0, ties, None, None)
    test = stats.binomtest(first, first + second)
    return PositionPreference(first, second, ties, first / (first + second), float(test.pvalue))


def swapped(vote: Vote) -> Vote:
    """The same vote when the two answers change places."""
    return _SWAPPED[vote]


def order_effect(
    groups: Mapping[str, Sequence[Unit]],
    pooled: Sequence[Unit],
    reliability: Callable[[Sequence[Unit]], float | None],
) -> OrderEffect:
    """Reliability per group beside the reliability of everything.

    Within items the groups are the two orders and pooled units hold the votes of both, after `swapped`;
    across items the groups are the early and the late part of a questionnaire.

    Args:
        groups: name -> units of that group.
        pooled: the units of all groups together.
        reliability: such as Krippendorff's alpha; None where it has no answer.

    Returns:
        The largest |pooled - group| in the unit of the reliability, lower is better; None where a group or
        the whole has no answer.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
    """
    alone = {name: reliability(units) for name, units in groups.items()}
    together = reliability(pooled)
    gaps = [abs(together - value) for value in alone.values() if together is not None and value is not None]
    complete = bool(alone) and len(gaps) == len(alone)
    return OrderEffect(alone, together, max(gaps) if complete else None)
