"""Combine rankings without comparing their scores."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

_CONSTANT = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[K]], constant: int = _CONSTANT
) -> list[tuple[K, float]]:
    """Fuse rankings: score(d) = Σ 1 / (constant + rank of d), ranks from 1, absent = no term.

    Args:
        rankings: each a list of keys, best first, without repeats.
        constant: damps the advantage of the very first ranks.

    Returns:
        (key, score), best first; equal scores in order of first appearance.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.

    >>> [key for key, _ in reciprocal_rank_fusion([["a", "b"], ["b", "c"]])]
    ['b', 'a', 'c']
    """
    scores: dict[K, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (constant + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
