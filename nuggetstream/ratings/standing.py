"""One system on a board, the states of boards and intervals, and how few votes decide the first place."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf

from nuggetstream.domain.battle import Vote


class BoardState(StrEnum):
    """What the votes allow a board to say. The values are the same in the API, the command and the pages."""

    RANKED = "ranked"
    EMPTY = "empty"  # no battle has an outcome
    NOBODY_RANKED = "nobody_ranked"  # no two systems are linked in both directions
    ALL_TIED = "all_tied"  # every battle that counts is a tie: equal ratings of unknown precision


class Unrankable(StrEnum):
    """Why a system has no rating yet. Each is a state of the data, not of the system."""

    NO_BATTLES = "no battle that counts"
    UNDEFEATED = "never lost or tied: only a lower bound exists"
    WINLESS = "never won or tied: only an upper bound exists"
    DISCONNECTED = "not in the largest group of systems that wins link in both directions"
    UNDETERMINED = "ties and wins together leave the model of ties without a finite solution"


class IntervalState(StrEnum):
    """What the bounds of an interval are worth, by the same names in the API, the command and the pages."""

    BOUNDED = "bounded"
    UNBOUNDED_BELOW = "unbounded_below"  # too many resamples could not be ranked: no lower bound
    UNBOUNDED_ABOVE = "unbounded_above"  # the same for the upper bound
    UNBOUNDED = "unbounded"  # neither bound exists
    DEGENERATE = "degenerate"  # the votes never disagree, so they contain no information about chance
    FIXED = "fixed"  # the anchor has the rating it was given

    @property
    def words(self) -> str:
        """The state in a few words for a table cell or a tooltip."""
        return _WORDS[self]


_WORDS = {
    IntervalState.BOUNDED: "bounded",
    IntervalState.UNBOUNDED_BELOW: "no lower bound",
    IntervalState.UNBOUNDED_ABOVE: "no upper bound",
    IntervalState.UNBOUNDED: "unbounded",
    IntervalState.DEGENERATE: "degenerate",
    IntervalState.FIXED: "anchor",
}


_WITHOUT_BOUNDS = (None, IntervalState.DEGENERATE)


def pair_of_bounds(
    low: float | None, high: float | None, state: IntervalState | None
) -> tuple[float, float] | None:
    """An interval as (low, high), where a bound that does not exist is infinite.

    Args:
        low: Lower bound; None where there is none.
        high: Upper bound.
        state: What the bounds are worth.

    Returns:
        None where there is no interval at all: without an estimate, or from votes that never disagree.

    >>> pair_of_bounds(950.0, None, IntervalState.UNBOUNDED_ABOVE)
    (950.0, inf)
    """
    if state in _WITHOUT_BOUNDS:
        return None
    return -inf if low is None else low, inf if high is None else high


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system: an estimate, or the reason why there is none.

    Attributes:
        system: Name of the system.
        rating: Elo points (400 points are odds of ten to one); None where the system cannot be ranked.
        low: Lower bound of the interval of the rating; None where it has none, and `interval_state` says why.
        high: Upper bound; None where it has none.
        interval_state: What the bounds are worth; None without a rating.
        rank: 1 + the number of systems above that can be told apart from it, or from one between the two; all
            differences of a board together have its error rate. Systems of one rank share a letter. None for
            a provisional rating, a degenerate interval, no rating, or where no other system can be ranked.
        group: Letters of the rank groups: ranked systems that share a letter are statistically
            indistinguishable; None without a rank.
        probability_first: Share of the possible strengths, resamples or draws from the sandwich, in which it
            is the best of the ranked systems and of provisional ones rated above them, in [0, 1]; None
            without a rank.
        provisional: Whether the rating rests on too few battles to be ranked above or below others.
        battles: Battles that count under the tie policy, weighted.
        wins: Decisive wins, weighted.
        losses: Decisive losses, weighted.
        ties: Ties that count, weighted.
        unrankable: Why there is no rating; None where there is one.
    """

    system: str
    rating: float | None
    low: float | None
    high: float | None
    interval_state: IntervalState | None
    rank: int | None
    group: str | None
    probability_first: float | None
    provisional: bool
    battles: float
    wins: float
    losses: float
    ties: float
    unrankable: Unrankable | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) of the rating, see `pair_of_bounds`."""
        return pair_of_bounds(self.low, self.high, self.interval_state)

    @property
    def remark(self) -> str | None:
        """Why it has no rank, in a few words; None where it has one, or where the interval says why."""
        if self.unrankable or self.provisional:
            return self.unrankable or "provisional"
        alone = self.rating is not None and self.rank is None
        return (
            "no other system can be ranked"
            if alone and self.interval_state is not IntervalState.DEGENERATE
            else None
        )


class Unchanged(StrEnum):
    """Why no votes are known that change the order."""

    UNRANKED = "fewer than two systems have a rank"
    UNRATED = "the votes do not rate both systems"
    EQUAL = "the systems in front have equal ratings"
    NOT_FOUND = "no votes were found without which another system is rated above"


@dataclass(frozen=True, slots=True)
class DroppedVotes:
    """Votes of one kind that are dropped.

    Attributes:
        system_a: One system, the first of the two in alphabetical order.
        system_b: The other system.
        winner: The outcome of these votes; "tie" includes "both bad" where the tie policy counts it.
        votes: How many are dropped.
        of: How many there are.
    """

    system_a: str
    system_b: str
    winner: Vote
    votes: float
    of: float


@dataclass(frozen=True, slots=True)
class Fragility:
    """The fewest votes found without which another system is in front.

    Attributes:
        drops: Votes to drop, at least 1; None with a reason. Weighted votes are dropped in units of weight 1.
        votes: Votes that count between rated systems.
        share: Dropped weight / votes, in (0, 1]; None with a reason.
        leader: The system in front with all votes; None where there is none.
        successor: The system in front of it without the dropped votes; None with a reason.
        kinds: What is dropped, the most votes first.
        reason: Why no votes are known; None where they are.
    """

    drops: int | None
    votes: float
    share: float | None
    leader: str | None
    successor: str | None
    kinds: tuple[DroppedVotes, ...] = ()
    reason: Unchanged | None = None
