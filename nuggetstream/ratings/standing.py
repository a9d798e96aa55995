"""One system on a board, the states a board can be in, and the notes a reader needs."""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.ratings.fitting.tally import Unrankable
from nuggetstream.ratings.interval import Interval


class BoardState(StrEnum):
    """What the votes allow a board to say. The values are the same in the API, the command and the pages."""

    RANKED = "ranked"
    EMPTY = "empty"  # no battle has an outcome
    NOBODY_RANKED = "nobody_ranked"  # no two systems are linked in both directions
    ALL_TIED = "all_tied"  # every battle that counts is a tie: equal ratings of unknown precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system: an estimate, or the reason why there is none.

    Attributes:
        system: Name of the system.
        rating: Elo points (400 points are odds of ten to one); None where the system cannot be ranked.
        interval: Interval of the rating; None without a rating.
        rank: 1 + the number of ranked systems whose interval lies wholly above; None for a provisional
            rating, a degenerate interval or no rating.
        group: Letters of the rank groups: ranked systems that share a letter are statistically
            indistinguishable; None without a rank.
        probability_first: Probability of being the best of the ranked systems, in [0, 1]; None where no
            resample can tell.
        provisional: Whether the rating rests on too few battles to be ranked above or below others.
        battles: Battles that count under the tie policy, weighted.
        wins: Decisive wins, weighted.
        losses: Decisive losses, weighted.
        ties: Ties that count, weighted.
        unrankable: Why there is no rating; None where there is one.
    """

    system: str
    rating: float | None
    interval: Interval | None
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
    def low(self) -> float | None:
        """Lower bound of the interval; None where there is none."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """Upper bound of the interval; None where there is none."""
        return None if self.interval is None else self.interval.high
