"""Votes of competent workers: those that are unlikely to be spam."""

from collections.abc import Sequence

from nuggetstream.domain.battle import Vote

# Votes whose probability of being spam is above this are dropped; a vote at exactly this probability is kept.
SPAM_LIMIT = 0.7


def kept_votes(votes: Sequence[Vote], spam: Sequence[float], limit: float = SPAM_LIMIT) -> list[Vote]:
    """The votes whose probability of being spam is at most the limit, in order; possibly none.

    Args:
        votes: Votes about one item, one per worker.
        spam: Probability that each vote is spam, in [0, 1].
        limit: Largest probability of a vote that is kept, in [0, 1].

    Raises:
        ValueError: The sequences differ in length, or a probability is outside [0, 1].

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.

    >>> kept_votes([Vote.A, Vote.B, Vote.A], [0.2, 0.9, 0.7])
    [<Vote.A: 'a'>, <Vote.A: 'a'>]
    """
    if not all(0 <= probability <= 1 for probability in (*spam, limit)):
        raise ValueError("a spam probability lies in [0, 1]")
    return [vote for vote, probability in zip(votes, spam, strict=True) if probability <= limit]
