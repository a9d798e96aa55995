"""Which pairs of answers can people tell apart?

A dimension of a pair is decided when one label has a clear majority among its votes. A pair is
differentiable when most of its dimensions are decided, and minimally differentiable otherwise: people then
disagree about its two answers in most dimensions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nuggetstream.domain.battle import Vote

Item = TypeVar("Item")

VOTES_FOR_A_MAJORITY = 3  # among five votes
# A forced choice between two labels always has a majority among five votes. With one such dimension of seven,
# five decided dimensions are four of the six in which people could disagree.
DECIDED_DIMENSIONS = 5


@dataclass(frozen=True, slots=True)
class Split(Generic[Item]):
    """Items whose two answers people can tell apart, and the other items, each in the order given."""

    differentiable: tuple[Item, ...]
    minimally_differentiable: tuple[Item, ...]


def is_decided(votes: Sequence[Vote], needed: int = VOTES_FOR_A_MAJORITY) -> bool:
    """Whether one label, possibly a tie, has at least the votes needed.

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
        items: Item -> dimension -> votes.
        needed: Number of votes for one label that decide a dimension.
        dimensions: Number of decided dimensions that make an item differentiable.

    Raises:
        ValueError: An item has fewer dimensions than `dimensions`, so that it could never be differentiable.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
    """
    groups: tuple[list[Item], list[Item]] = ([], [])
    for item, votes in items.items():
        if len(votes) < dimensions:
            raise ValueError(f"{item!r} has {len(votes)} dimensions; {dimensions} must be decided")
        decided = sum(is_decided(of_dimension, needed) for of_dimension in votes.values())
        groups[decided < dimensions].append(item)
    return Split(tuple(groups[0]), tuple(groups[1]))
