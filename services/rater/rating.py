"""One board from counts, and the state of the data where they give no numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.estimate import fit
from nuggetstream.ratings.intervals import has_no_width
from nuggetstream.ratings.leaderboard import Anchor, AnchorNotRanked, Board, Standing, leaderboard
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.sandwich import covariance, normal_ratings
from nuggetstream.ratings.tally import Tally, connectivity, rankable
from nuggetstream.ratings.votes import pairs_among
from services.rater.options import InvalidQuestion, Options

SEED = 20250504  # any number; fixed, so that the same outcomes always give the same board


class BoardState(StrEnum):
    """What the battles allow to say."""

    RANKED = "ranked"
    EMPTY = "empty"  # no battle has an outcome
    NOBODY_RANKED = "nobody_ranked"  # no two systems are linked in both directions
    ALL_TIED = "all_tied"  # ratings are equal, and nothing says how surely


class IntervalState(StrEnum):
    """What an interval is worth."""

    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"  # too many resamples could not be ranked
    UNDETERMINED = "undetermined"  # nothing but ties: no resample differs from another
    FIXED = "fixed"  # the anchor, which is where it is put


@dataclass(frozen=True, slots=True)
class Rated:
    """A board, what the data allowed, and what a reader must know about it."""

    board: Board
    state: BoardState
    note: str


def tally_of(counts: Iterable[PairCount]) -> Tally:
    """Counts as the record has them, as counts to be rated."""
    return Tally.count((c.system_a, c.system_b, c.winner, c.count) for c in counts)


def rate(counts: Sequence[PairCount], options: Options) -> Rated:
    """Rate what can be rated.

    Where nothing but ties links the ranked systems, every resample gives the same equal ratings. An
    interval without width and a first place for whoever comes first in the alphabet would be made
    up; such a board has ratings and no intervals. Nor has a system that has only tied with the anchor.

    Raises:
        InvalidQuestion: the anchor is not among the ranked systems.
    """
    tally = tally_of(counts)
    group, _ = rankable(tally.points(options.policy))
    anchor = _anchor(tally, group, options)
    board = _board(tally, options, anchor)
    if options.intervals is Intervals.SANDWICH and len(group):
        board = _with_sandwich(board, tally, group, options)
    state = state_of(tally, group, board)
    return Rated(board, state, _note(tally, board, state))


def state_of(tally: Tally, group: NDArray[np.intp], board: Board) -> BoardState:
    """What the battles allow to say."""
    if not tally.systems:
        return BoardState.EMPTY
    if not any(standing.rating is not None for standing in board.standings):
        return BoardState.NOBODY_RANKED
    return BoardState.RANKED if tally.wins[np.ix_(group, group)].any() else BoardState.ALL_TIED


def interval_state(low: float | None, high: float | None) -> IntervalState:
    """What the interval of a rating is worth.

    >>> interval_state(990.0, 1010.0).value, interval_state(-np.inf, np.inf).value
    ('bounded', 'unbounded')
    """
    if low is None or high is None:
        return IntervalState.UNDETERMINED
    return IntervalState.BOUNDED if np.isfinite([low, high]).all() else IntervalState.UNBOUNDED


def finite(number: float | None) -> float | None:
    """A number that may travel; None for an end that is not there."""
    return number if number is not None and np.isfinite(number) else None


def without_ends(unranked: int, resamples: int) -> str:
    """Why intervals are unbounded, for a person."""
    return f"{unranked} of {resamples} resamples could not be ranked: intervals have no ends."


def _anchor(tally: Tally, group: NDArray[np.intp], options: Options) -> Anchor | None:
    """The anchor; None where nobody is ranked, so that there is no scale to fix."""
    anchor = options.anchor
    if anchor is None or not len(group):
        return None
    if anchor.system not in tally.systems:
        raise InvalidQuestion("anchor", f"{anchor.system!r} has no battle here")
    if anchor.system not in {tally.systems[index] for index in group}:
        reason = rankable(tally.points(options.policy))[1][tally.systems.index(anchor.system)]
        raise InvalidQuestion("anchor", f"{anchor.system!r} is not ranked: {reason.value}")
    return anchor


def _board(tally: Tally, options: Options, anchor: Anchor | None) -> Board:
    drawn = options.intervals is Intervals.BOOTSTRAP

    def made(anchor: Anchor | None) -> Board:
        return leaderboard(
            tally,
            np.random.default_rng(SEED),
            policy=options.policy,
            resamples=options.resamples if drawn else 1,
            level=options.level,
            anchor=anchor,
            bootstrap=options.bootstrap,
        )

    try:
        return made(anchor)
    except AnchorNotRanked:  # the model of ties has no solution, so that nobody is ranked after all
        return made(None)


def _with_sandwich(board: Board, tally: Tally, group: NDArray[np.intp], options: Options) -> Board:
    """The same ratings with normal intervals; only resamples know the chance of being first."""
    pairs = pairs_among(tally, group, options.policy)
    theta, _ = fit(pairs, options.policy)
    names = [tally.systems[index] for index in group]
    anchor = None if board.anchor is None else (names.index(board.anchor.system), board.anchor.rating)
    ratings = normal_ratings(theta, covariance(theta, pairs), level=options.level, anchor=anchor)
    place = {name: index for index, name in enumerate(names)}

    def bounded(standing: Standing) -> Standing:
        if (index := place.get(standing.system)) is None:
            return standing
        low, high = float(ratings.low[index]), float(ratings.high[index])
        known = not has_no_width(low, high) or (anchor is not None and index == anchor[0])
        return replace(
            standing,
            low=low if known else None,
            high=high if known else None,
            rank=int(ratings.rank[index]) if known else None,
            probability_first=None,
        )

    return replace(board, standings=tuple(map(bounded, board.standings)), resamples=0, unranked=0)


def _note(tally: Tally, board: Board, state: BoardState) -> str:
    said = {
        BoardState.EMPTY: "No battle has an outcome here.",
        BoardState.NOBODY_RANKED: "No two systems have taken points from each other, directly or by a chain.",
        BoardState.ALL_TIED: "Ranked systems have only ties: equal ratings, and nothing says how surely.",
        BoardState.RANKED: "",
    }
    notes = [said[state]]
    islands = [island for island in connectivity(tally, board.policy).islands if len(island) > 1]
    if len(islands) > 1:
        notes.append(f"The systems form {len(islands)} groups that never met; only one group is ranked.")
    ends = (end for standing in board.standings for end in (standing.low, standing.high))
    if any(end is not None and not np.isfinite(end) for end in ends):
        notes.append(without_ends(board.unranked, board.resamples))
    return " ".join(filter(None, notes))
