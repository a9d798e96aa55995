"""α-nDCG: a passage that answers a question again is worth less than the first one that answers it.

Source: Clarke et al., "Novelty and Diversity in Information Retrieval Evaluation", SIGIR 2008.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import log2


def alpha_dcg(ranked: Iterable[tuple[int, Collection[str]]], alpha: float) -> float:
    """α-DCG = Σ over passages of Σ over the items i they answer of (1 - α)^r(i) / log₂(rank + 1).

    r(i) is the number of passages above that answer i.

    Args:
        ranked: Rank from 1 on and items answered, of each passage, the best rank first.
        alpha: How much an item that is answered again loses, in [0, 1]; with 0 it loses nothing.

    Returns:
        At least 0, higher is better.

    >>> alpha_dcg([(1, {"x", "y"}), (3, {"x"})], 0.5)
    2.25
    """
    seen: Counter[str] = Counter()
    total = 0.0
    for rank, items in ranked:
        total += _gain(items, seen, alpha) / log2(rank + 1)
        seen.update(items)
    return total


def ideal_alpha_dcg(passages: Sequence[Collection[str]], k: int, alpha: float) -> float:
    """α-DCG of the ideal ranking: from the top, always the passage that gains most.

    The best ranking cannot be computed in reasonable time. Where the greedy one is worse, an α-nDCG can
    exceed 1 a little.

    Args:
        passages: Items answered by each passage of a query; of equal gains the earlier passage comes first.
        k: Depth of the ranking, at least 1.
        alpha: As for `alpha_dcg`.

    >>> ideal_alpha_dcg([{"x"}, {"x", "y"}, {"z"}], 3, 0.5) == 2 + 1 / log2(3) + 0.5 / 2
    True
    """
    seen: Counter[str] = Counter()
    left = [items for items in passages if items]
    total = 0.0
    for rank in range(1, min(k, len(left)) + 1):
        gains = [_gain(items, seen, alpha) for items in left]
        best = gains.index(max(gains))
        total += gains[best] / log2(rank + 1)
        seen.update(left.pop(best))
    return total


def _gain(items: Collection[str], seen: Counter[str], alpha: float) -> float:
    return float(sum((1 - alpha) ** seen[item] for item in sorted(items)))
