"""Human votes: one per voter and battle, the newest; together they are one preference.

    one voter        the vote
    several voters   the vote of more than half of them, else a tie

The vote of nobody in particular, without a voter, counts as that of one voter.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote


@dataclass(frozen=True, slots=True)
class HumanVote:
    """A vote as a person casts it.

    Attributes:
        vote: The preference.
        voter: Opaque id of the person; None where it is not known.
        comment: Why, in the words of the person; None without one.
    """

    vote: Vote
    voter: str | None = None
    comment: str | None = None


def common_vote(votes: Iterable[Vote]) -> Vote:
    """The preference of a majority of votes; a tie where none has more than half of them.

    Args:
        votes: One or more votes, one per voter or judge.

    >>> common_vote([Vote.A, Vote.B, Vote.B])
    <Vote.B: 'b'>
    >>> common_vote([Vote.A, Vote.B])
    <Vote.TIE: 'tie'>
    """
    counts = Counter(votes)
    ((vote, count),) = counts.most_common(1)
    return vote if 2 * count > counts.total() else Vote.TIE
