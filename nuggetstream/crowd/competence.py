"""Votes without the spam."""

from collections.abc import Sequence

from nuggetstream.domain.battle import Vote

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
