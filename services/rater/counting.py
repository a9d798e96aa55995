"""Counts of outcomes and the ratings computed from them, in the caller's thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.counts import PairCount, tally_of
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted as Votes
from nuggetstream.ratings.fitting.weights import WeightMemory
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Every, InvalidOption, Options
from nuggetstream.ratings.timeline import Period, timeline_of_tallies
from services.store.outcomes.outcomes import LensCounts


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Counts of one lens, and which battles they are of.

    Attributes:
        arena: Arena of the battles.
        lens: The lens.
        slice: Filter that selects the battles.
        counts: The counts.
    """

    arena: str
    lens: Lens
    slice: Slice
    counts: LensCounts

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies these counts: no other state has the same stamp, and without one there are none."""
        return (self.arena, self.lens, self.slice, self.counts.stamp)


def board_of_counts(
    counts: Tally | Sequence[PairCount], options: Options, weights: WeightMemory | None = None
) -> Ratings:
    """Ratings of one lens with everything that a board shows, computed in the caller's thread."""
    tally = counts if isinstance(counts, Tally) else tally_of(counts)
    ratings = rate(Votes(tally, weights), options)
    _ = ratings.islands, ratings.fragility  # computed here, in a thread, and kept
    return ratings


def timeline_of(
    dated: Sequence[tuple[datetime, Tally]], options: Options, every: Every, cumulative: bool
) -> tuple[Period[Ratings], ...]:
    """Ratings of every period.

    Raises:
        InvalidOption: There are too many periods.
    """
    try:
        return timeline_of_tallies(dated, every, partial(rate, options=options), cumulative=cumulative)
    except ValueError as error:
        raise InvalidOption("every", str(error)) from error
