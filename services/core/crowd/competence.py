"""Votes without the spam: which to keep, and what the kept ones say."""

from collections import Counter
from collections.abc import Iterable, Sequence

from services.core.battle import Vote

# Votes more likely spam than this are dropped; exactly this much is kept.
SPAM_LIMIT = 0.7


def kept_votes(votes: Sequence[Vote], spam: Sequence[float], limit: float = SPAM_LIMIT) -> list[Vote]:
    """The votes whose spam probability is at most the limit, in order; possibly none.

    Args:
        votes: about one item, one per worker.
        spam: of the worker behind each vote, in [0, 1].
        limit: likewise.

    Raises:
        ValueError: sequences of different length, or a probability outside [0, 1].

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.

    >>> kept_votes([Vote.A, Vote.B, Vote.A], [0.2, 0.9, 0.7])
    [<Vote.A: 'a'>, <Vote.A: 'a'>]
    """
    if not all(0 <= probability <= 1 for probability in (*spam, limit)):
        raise ValueError("a spam probability lies in [0, 1]")
    return [vote for vote, probability in zip(votes, spam, strict=True) if probability <= limit]


def majority(votes: Iterable[Vote]) -> Vote | None:
    """The label with more votes than any other; None without votes or without such a label.

    >>> majority([Vote.A, Vote.A, Vote.B]), majority([Vote.A, Vote.B])
    (<Vote.A: 'a'>, None)
    """
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def corrected_label(votes: Sequence[Vote], spam: Sequence[float], limit: float = SPAM_LIMIT) -> Vote | None:
    """Majority of the votes that are kept; None where none is left or they are divided.

    Raises:
        ValueError: as `kept_votes`.

    Source: as `kept_votes`.
    """
    return majority(kept_votes(votes, spam, limit))
