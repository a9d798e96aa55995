"""From a fit to the rows of a board: ranks, rank groups and the probability of being first."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fit import Fit
from nuggetstream.ratings.fitting.intervals import first_places, separated
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.groups import differing, ranks_by_difference
from nuggetstream.ratings.groups import letters as group_letters
from nuggetstream.ratings.interval import Interval, interval
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.standing import IntervalState, Standing, Unrankable
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def ranked_standings(fit: Fit) -> tuple[Standing, ...]:
    """The rated systems: by rank and rating, then those of degenerate intervals, then provisional ones."""
    estimates, policy, tally = fit.estimates, fit.options.policy, fit.tally
    intervals = [
        interval(float(low), float(high), fixed=fit.anchor is not None and fit.anchor[0] == index)
        for index, (low, high) in enumerate(zip(estimates.low, estimates.high, strict=True))
    ]
    provisional = fit.votes.votes_cast(policy)[fit.group] < fit.options.provisional_below
    competing = np.flatnonzero(~provisional)
    ranks, letters = _placed(fit, intervals, competing)
    first = _probability_first(fit, intervals, competing)
    order = sorted(
        range(len(fit.group)),
        key=lambda index: (
            bool(provisional[index]),
            ranks.get(index, len(fit.group) + 1),
            -estimates.rating[index],
        ),
    )
    return tuple(
        Standing(
            system=fit.systems[index],
            rating=float(estimates.rating[index]),
            low=intervals[index].low,
            high=intervals[index].high,
            interval_state=intervals[index].state,
            rank=ranks.get(index),
            group=letters.get(index),
            probability_first=first.get(index),
            provisional=bool(provisional[index]),
            **_record(tally, policy, int(fit.group[index])),
            unrankable=None,
        )
        for index in order
    )


def unranked_standings(
    tally: Tally, policy: TiePolicy, reasons: Mapping[int, Unrankable]
) -> tuple[Standing, ...]:
    """The systems without a rating, in alphabetical order, each with its reason."""
    return tuple(
        Standing(
            system=tally.systems[index],
            rating=None,
            low=None,
            high=None,
            interval_state=None,
            rank=None,
            group=None,
            probability_first=None,
            provisional=False,
            **_record(tally, policy, index),
            unrankable=reason,
        )
        for index, reason in sorted(reasons.items())
    )


def _placed(fit: Fit, intervals: list[Interval], competing: Places) -> tuple[dict[int, int], dict[int, str]]:
    """Ranks and letters of the competing systems whose intervals say something, by their differences."""
    compared = [int(index) for index in competing if intervals[index].state is not IntervalState.DEGENERATE]
    compared.sort(key=lambda index: -fit.estimates.rating[index])
    if not compared:
        return {}, {}
    apart = _apart(fit)[np.ix_(compared, compared)]
    ranks = dict(zip(compared, ranks_by_difference(apart).tolist(), strict=True))
    return ranks, dict(zip(compared, group_letters(apart), strict=True))


def _apart(fit: Fit) -> NDArray[np.bool_]:
    """(K, K) whether the interval of the difference of two ratings excludes zero."""
    if fit.options.intervals is Intervals.SANDWICH:
        return differing(fit.differences.low, fit.differences.high)
    return separated(fit.strengths, fit.options.level)


def _probability_first(fit: Fit, intervals: list[Interval], competing: Places) -> dict[int, float]:
    """Share of the resamples in which each competing system is the best; empty where no resample can tell."""
    draws, unranked = fit.strengths.draws, fit.strengths.unranked
    total = len(draws) + unranked
    degenerate = all(item.state is IntervalState.DEGENERATE for item in intervals)
    if degenerate or fit.nothing_resampled or not len(draws) or not len(competing):
        return {}
    shares = first_places(draws[:, competing]) / total
    return {int(index): float(share) for index, share in zip(competing, shares, strict=True)}


def _record(tally: Tally, policy: TiePolicy, index: int) -> dict[str, float]:
    """Battles, wins, losses and ties of a system under the policy."""
    wins, losses = float(tally.wins[index].sum()), float(tally.wins[:, index].sum())
    ties = float(tally.drawn(policy)[index].sum())
    return {"battles": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
