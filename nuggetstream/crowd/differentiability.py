"""Which pairs can people tell apart at all?

A dimension of a pair is decided when one label has a clear majority among its votes; a pair is
differentiable when most of its dimensions are decided. What is left is minimally differentiable: two
answers about which people are divided in most respects.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nuggetstream.domain.battle import Vote

Item = TypeVar("Item")

VOTES_FOR_A_MAJORITY = 3  # of five
# A forced choice between two labels always has a majority among five votes. With one such dimension of
# seven, five decided ones are four of the six in which people could have been divided.
DECIDED_DIMENSIONS = 5


@dataclass(frozen=True, slots=True)
class Split(Generic[Item]):
    """Items by whether people can tell their two answers apart; both in the order given."""

    differentiable: tuple[Item, ...]
    minimally_differentiable: tuple[Item, ...]


def is_decided(votes: Sequence[Vote], needed: int = VOTES_FOR_A_MAJORITY) -> bool:
    """Whether one label, a tie included, has at least the votes needed.

    >>> is_decided([Vote.A, Vote.A, Vote.A, Vote.B]), is_decided([Vote.A, Vote.A, Vote.B, Vote.B])
    (True, False)
    """
    return bool(votes) and Counter(votes).most_common(1)[0][1] >= needed


def split_by_differentiability(
    items: Mapping[Item, Mapping[str, Sequence[Vote]]],
    *,
    needed: int = VOTES_FOR_A_MAJORITY,
    dimensions: int = DECIDED_DIMENSIONS,
) -> Split[Item]:
    """Split items by how many of their dimensions are decided.

    Args:
        items: item -> dimension -> votes.
        needed: votes of one label that decide a dimension.
        dimensions: decided dimensions that make an item differentiable.

    Raises:
        ValueError: an item with fewer dimensions than are asked for; it could never qualify.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
    """
    sides: tuple[list[Item], list[Item]] = ([], [])
    for item, votes in items.items():
        if len(votes) < dimensions:
            raise ValueError(f"{item!r} has {len(votes)} dimensions; {dimensions} decided ones are asked for")
        decided = sum(is_decided(given, needed) for given in votes.values())
        sides[decided < dimensions].append(item)
    return Split(tuple(sides[0]), tuple(sides[1]))
