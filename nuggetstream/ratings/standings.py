"""From a fit to the rows of a board: ranks, rank groups and the probability of being first."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fit import Fit
from nuggetstream.ratings.fitting.intervals import first_places
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.groups import differing, ranks_by_difference
from nuggetstream.ratings.groups import letters as group_letters
from nuggetstream.ratings.interval import Interval, interval
from nuggetstream.ratings.standing import IntervalState, Standing, Unrankable
from nuggetstream.ratings.ties import TiePolicy

Places = NDArray[np.intp]


def ranked_standings(fit: Fit) -> tuple[Standing, ...]:
    """The rated systems: by rank and rating, then those without a rank by rating."""
    estimates, policy, tally = fit.estimates, fit.options.policy, fit.tally
    intervals = [
        interval(float(low), float(high), fixed=fit.anchor is not None and fit.anchor[0] == index)
        for index, (low, high) in enumerate(zip(estimates.low, estimates.high, strict=True))
    ]
    provisional = fit.votes.votes_cast(policy)[fit.group] < fit.options.provisional_below
    ranks, letters, first = _placed(fit, intervals, provisional)
    order = sorted(
        range(len(fit.group)),
        key=lambda index: (ranks.get(index, len(fit.group) + 1), -estimates.rating[index]),
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


def _placed(
    fit: Fit, intervals: list[Interval], provisional: NDArray[np.bool_]
) -> tuple[dict[int, int], dict[int, str], dict[int, float]]:
    """Ranks, letters and probabilities of being first; empty where fewer than two systems can have a rank.

    Provisional systems get none of them. Those that are rated above every ranked system compete all the same:
    without them, the best of the others would be called the first of all.
    """
    known = np.array([item.state is not IntervalState.DEGENERATE for item in intervals])
    ranked = known & ~provisional
    if ranked.sum() < 2:
        return {}, {}, {}
    rating = fit.estimates.rating
    competing = np.flatnonzero(ranked | (known & (rating > rating[ranked].max())))
    competing = competing[np.argsort(-rating[competing], kind="stable")]
    apart = differing(fit.differences.p_value[np.ix_(competing, competing)], fit.options.level)
    ranks = {
        int(index): int(rank)
        for index, rank in zip(competing, ranks_by_difference(apart), strict=True)
        if ranked[index]
    }
    own = np.flatnonzero(ranked[competing])
    letters = group_letters(apart[np.ix_(own, own)])
    first = _probability_first(fit, competing)
    return (
        ranks,
        dict(zip(ranks, letters, strict=True)),
        {index: share for index, share in first.items() if index in ranks},
    )


def _probability_first(fit: Fit, competing: Places) -> dict[int, float]:
    """Share of the possible strengths in which each system is the best; empty where none are known."""
    if fit.nothing_resampled or not len(fit.possible):
        return {}
    shares = first_places(fit.possible[:, competing]) / (len(fit.possible) + fit.strengths.unranked)
    return {int(index): float(share) for index, share in zip(competing, shares, strict=True)}


def _record(tally: Tally, policy: TiePolicy, index: int) -> dict[str, float]:
    """Battles, wins, losses and ties of a system under the policy."""
    wins, losses = float(tally.wins[index].sum()), float(tally.wins[:, index].sum())
    ties = float(tally.drawn(policy)[index].sum())
    return {"battles": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
