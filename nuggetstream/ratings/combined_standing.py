"""The three ratings of a system from human, automatic and both kinds of votes, and whether each exists."""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.figures.charts import Rated
from nuggetstream.ratings.standing import IntervalState, Unrankable, pair_of_bounds


class EstimateState(StrEnum):
    """Whether one kind of votes rates the systems, or why not. The values are those of the API."""

    RATED = "rated"
    EMPTY = "empty"
    NOBODY_RANKED = "nobody_ranked"
    TOO_FEW_VOTES = "too_few_votes"
    NOT_LINKED = "not_linked"
    ALL_TIED = "all_tied"
    NO_FINITE_SOLUTION = "no_finite_solution"
    TOO_MANY_BATTLES = "too_many_battles"

    @property
    def words(self) -> str:
        """The state of the combined rating as a sentence."""
        return _WORDS[self]


_WORDS = {
    EstimateState.RATED: "The combined rating is right if people voted on a random part of the battles.",
    EstimateState.EMPTY: "No battle has an automatic vote.",
    EstimateState.NOBODY_RANKED: "The automatic votes link no two systems in both directions.",
    EstimateState.TOO_FEW_VOTES: "Fewer than two battles have both a human and an automatic vote.",
    EstimateState.NOT_LINKED: "Human votes link too few systems, and automatic votes add nothing to them.",
    EstimateState.ALL_TIED: "The votes never disagree, so they contain no information about chance.",
    EstimateState.NO_FINITE_SOLUTION: "The human votes correct the automatic ones beyond any finite rating.",
    EstimateState.TOO_MANY_BATTLES: "There are too many battles to combine at once; filter them.",
}


@dataclass(frozen=True, slots=True)
class Rating(Rated):
    """A rating with its interval, both in Elo points, and its rank.

    Attributes:
        rating: The rating.
        low: Lower bound; None where there is none, and `interval_state` says why.
        high: Upper bound; None where there is none.
        rank: 1 + the number of better systems, by intervals of differences; see `Standing`.
        interval_state: What the bounds are worth.
    """

    rank: int
    interval_state: IntervalState

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) of the rating, see `pair_of_bounds`."""
        return pair_of_bounds(self.low, self.high, self.interval_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedStanding:
    """One system, rated three ways.

    Attributes:
        human: From human votes alone; None where these cannot rate it.
        automatic: From automatic votes alone; None where these cannot rate it.
        combined: From both; None where there is no such estimate.
        human_battles: Its battles with both votes.
        automatic_battles: Its battles with an automatic vote.
        unrankable: Why it has no rating at all; None where it may have one.
    """

    system: str
    human: Rating | None
    automatic: Rating | None
    combined: Rating | None
    human_battles: int
    automatic_battles: int
    unrankable: Unrankable | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one of the three ratings rests on.

    Attributes:
        battles: Battles that went in.
        state: Whether it exists, or why not.
    """

    battles: int
    state: EstimateState
