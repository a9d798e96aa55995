"""Every pair of systems: who won how often, and how far apart the two are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.estimate import estimate, fit
from nuggetstream.ratings.intervals import Differences, differences, has_no_width
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.sandwich import covariance, normal_differences
from nuggetstream.ratings.tally import Tally, rankable
from nuggetstream.ratings.votes import Counted, pairs_among
from nuggetstream.statistics.proportion import wilson
from services.rater.options import Options
from services.rater.rating import (
    SEED,
    BoardState,
    IntervalState,
    Rated,
    finite,
    interval_state,
    rate,
    tally_of,
    without_ends,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two systems; the message of the same name. None is what has no answer.

    Attributes:
        battles: that count under the tie policy.
        share: of the points that A took, in [0, 1], with its Wilson interval.
        gap: rating of A less rating of B, in Elo points.
        above: chance that A is above B; unranked resamples count for neither side.
    """

    a: str
    b: str
    battles: float
    wins_a: float
    wins_b: float
    ties: float
    share: float | None
    share_low: float | None
    share_high: float | None
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    above: float | None
    below: float | None
    interval: IntervalState | None


@dataclass(frozen=True, slots=True)
class Compared:
    """All pairs of one board.

    Attributes:
        rated: the board they belong to.
        systems: best first, the unranked last.
        pairs: in this order, A before B.
    """

    rated: Rated
    systems: tuple[str, ...]
    pairs: tuple[Pairing, ...]


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Differences of the ranked systems, their places in them, and resamples that could not be ranked."""

    place: dict[str, int]
    between: Differences
    unranked: int


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts under a tie policy, (K, K) each, and the systems' places in them."""

    place: dict[str, int]
    points: Floats
    wins: Floats
    drawn: Floats


def compare(counts: Sequence[PairCount], options: Options) -> Compared:
    """Compare every system with every other."""
    tally = tally_of(counts)
    # Order and state need no resamples; those are drawn once, for the differences.
    order = rate(counts, replace(options, resamples=1, bootstrap=Bootstrap.BAYESIAN))
    gaps = _gaps(tally, order, options)
    counted = _Counts(
        {system: index for index, system in enumerate(tally.systems)},
        tally.points(options.policy),
        tally.wins,
        tally.drawn(options.policy),
    )
    systems = tuple(standing.system for standing in order.board.standings)
    pairs = tuple(_pairing(counted, options.level, gaps, a, b) for a, b in combinations(systems, 2))
    return Compared(_as_drawn(order, options, gaps, pairs), systems, pairs)


def _as_drawn(order: Rated, options: Options, gaps: _Gaps | None, pairs: Sequence[Pairing]) -> Rated:
    """The board with the resamples that the differences were made of."""
    unranked, note = gaps.unranked if gaps else 0, order.note
    if any(pair.interval is IntervalState.UNBOUNDED for pair in pairs):
        note = f"{note} {without_ends(unranked, options.resamples)}".strip()
    board = replace(order.board, bootstrap=options.bootstrap, resamples=options.resamples, unranked=unranked)
    return replace(order, board=board, note=note)


def _gaps(tally: Tally, order: Rated, options: Options) -> _Gaps | None:
    if order.state not in (BoardState.RANKED, BoardState.ALL_TIED):
        return None
    group, _ = rankable(tally.points(options.policy))
    place = {tally.systems[system]: index for index, system in enumerate(group)}
    if options.intervals is Intervals.SANDWICH:
        pairs = pairs_among(tally, group, options.policy)
        theta, _ = fit(pairs, options.policy)
        return _Gaps(place, normal_differences(theta, covariance(theta, pairs), options.level), 0)
    strengths = estimate(
        Counted(tally),
        group,
        np.random.default_rng(SEED),
        policy=options.policy,
        bootstrap=options.bootstrap,
        resamples=options.resamples,
    )
    return _Gaps(place, differences(strengths, options.level), strengths.unranked)


def _pairing(counts: _Counts, level: float, gaps: _Gaps | None, a: str, b: str) -> Pairing:
    i, j = counts.place[a], counts.place[b]
    taken = float(counts.points[i, j])
    battles = taken + float(counts.points[j, i])
    share_low, share_high = wilson(taken, battles, level) if battles else (None, None)
    gap, low, high, above, below = _gap(gaps, a, b)
    return Pairing(
        a=a,
        b=b,
        battles=battles,
        wins_a=float(counts.wins[i, j]),
        wins_b=float(counts.wins[j, i]),
        ties=float(counts.drawn[i, j]),
        share=taken / battles if battles else None,
        share_low=share_low,
        share_high=share_high,
        gap=gap,
        gap_low=finite(low),
        gap_high=finite(high),
        above=above,
        below=below,
        interval=None if gap is None else interval_state(low, high),
    )


def _gap(
    gaps: _Gaps | None, a: str, b: str
) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    if gaps is None or a not in gaps.place or b not in gaps.place:
        return None, None, None, None, None
    i, j = gaps.place[a], gaps.place[b]
    gap = float(gaps.between.gap[i, j])
    low, high = float(gaps.between.low[i, j]), float(gaps.between.high[i, j])
    if has_no_width(low, high):
        return gap, None, None, None, None
    return gap, low, high, float(gaps.between.above[i, j]), float(gaps.between.above[j, i])
