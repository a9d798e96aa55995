"""Combine rankings without comparing their scores."""

from collections.abc import Hashable, Sequence
from math import fsum
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

_CONSTANT = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[K]], constant: int = _CONSTANT
) -> list[tuple[K, float]]:
    """Fuse rankings: score(d) = Σ 1 / (constant + rank of d) over the rankings that contain d, ranks from 1.

    Args:
        rankings: Lists of keys, best first; a key that repeats within a list counts once, at its best rank.
        constant: Damps the advantage of the very first ranks; at least 0.

    Returns:
        (key, score) pairs, best first; equal scores in order of first appearance. Scores are above 0 and at
        most (number of rankings) / (constant + 1).

    Raises:
        ValueError: The constant is negative.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.

    >>> [key for key, _ in reciprocal_rank_fusion([["a", "b"], ["b", "c"]])]
    ['b', 'a', 'c']
    """
    if not constant >= 0:
        raise ValueError(f"the constant must be at least 0, not {constant}")
    shares: dict[K, list[float]] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            shares.setdefault(key, []).append(1 / (constant + rank))
    # Exact sums: keys with the same ranks in another order of the rankings have equal scores.
    scores = {key: fsum(terms) for key, terms in shares.items()}
    return sorted(scores.items(), key=lambda item: -item[1])
