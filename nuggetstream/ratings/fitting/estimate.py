"""Strengths of systems and of resampled systems, under any policy about ties."""

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.chord import fit_resamples
from nuggetstream.ratings.fitting.intervals import Strengths
from nuggetstream.ratings.fitting.newton import DRAWN, EXACT
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.prior import with_drawn_prior, with_prior, without_phantom
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper
from nuggetstream.ratings.fitting.votes import Counted, Votes, pairs_among
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]

_CHUNK = 2**24  # numbers drawn at a time: 64 MB, however many resamples and systems


def estimate(
    votes: Votes,
    group: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    policy: TiePolicy = TiePolicy.HALF,
    bootstrap: Bootstrap = Bootstrap.BAYESIAN,
    resamples: int = 1000,
    prior: float | None = None,
) -> Strengths:
    """Fit a group of systems, and every resample of their battles.

    Args:
        votes: Votes of any kind.
        group: (K,) indices of at least two systems that are strongly connected under the policy; with a
            prior, of any systems.
        rng: Source of randomness; the same seed gives the same result.
        policy: How ties count.
        bootstrap: How resamples are drawn.
        resamples: Number of resamples.
        prior: Strength of the weak prior in pseudo-battles per system; None for no prior.

    Returns:
        Strengths in logits. Resamples that cannot be ranked are counted, not fitted.

    Raises:
        NotConverged: the model of ties has no finite solution for these counts, or the group has fewer than
            two systems.

    Source: the model's: `bradley_terry`, `tie_models`; the resamples': `bootstrap`.
    """
    counts = pairs_among(votes.tally, group, policy)
    theta, tie = fit(counts, policy, prior)
    size = _at_a_time(len(counts.first))
    draws = [np.empty((0, len(group)))]
    for start in range(0, resamples, size):
        drawn = votes.resample(group, policy, bootstrap, min(size, resamples - start), rng)
        if prior is not None:
            resampled = fit_pairs(with_drawn_prior(drawn, prior, rng), np.append(theta, 0.0), precision=DRAWN)
            draws.append(without_phantom(resampled))
            continue
        if not bootstrap.keeps_cells:
            drawn = drawn.slice(_rankable(drawn, policy))
        if len(drawn.won):  # perhaps none of them can be ranked
            draws.append(_fit_resamples(votes, counts, drawn, policy, theta))
    fitted = np.concatenate(draws)
    return Strengths(theta, fitted, resamples - len(fitted), tie)


def fit(counts: Pairs, policy: TiePolicy, prior: float | None = None) -> tuple[Floats, float | None]:
    """Strengths (K,) and the tie parameter, None for policies without one.

    Args:
        counts: (E,) counts of one data set, without the ties that the policy drops.
        policy: How ties count.
        prior: Strength of the weak prior; None for no prior.

    Raises:
        NotConverged: no finite solution.

    Source: the model's: `bradley_terry`, `tie_models`.
    """
    if prior is not None:
        return without_phantom(fit_pairs(with_prior(counts, prior))), None
    theta, tie = _fit_all(counts.counted(counts.cells[None]), policy, None)
    return theta[0], None if tie is None else float(tie[0])


def _at_a_time(pairs: int) -> int:
    """Resamples that are drawn together: a power of two, so that one more pair rarely changes the number."""
    return 1 << max((_CHUNK // (3 * pairs)).bit_length() - 1, 0)


def _fit_all(counts: Pairs, policy: TiePolicy, start: Floats | None) -> tuple[Floats, Floats | None]:
    match policy:
        case TiePolicy.DAVIDSON:
            return fit_davidson(counts, start)
        case TiePolicy.RAO_KUPPER:
            return fit_rao_kupper(counts, start)
        case _:
            return fit_pairs(counts, start, precision=EXACT if start is None else DRAWN), None


def _fit_resamples(votes: Votes, counts: Pairs, drawn: Pairs, policy: TiePolicy, theta: Floats) -> Floats:
    if isinstance(votes, Counted) and not policy.models_ties:
        return fit_resamples(drawn, counts, theta)
    return _fit_all(drawn, policy, theta)[0]


def _rankable(drawn: Pairs, policy: TiePolicy) -> NDArray[np.intp]:
    """Which resamples have a finite solution.

    For a model of ties the wins alone must link everybody: enough for a solution to exist, and a
    resample that fails it is rather counted as unranked than extrapolated.
    """
    if not policy.models_ties:
        return np.flatnonzero(drawn.connected())
    decisive = drawn.counted(np.stack([drawn.won, drawn.lost, np.zeros_like(drawn.drawn)], axis=-2))
    return np.flatnonzero(decisive.connected())
