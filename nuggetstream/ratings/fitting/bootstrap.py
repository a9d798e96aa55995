"""Resampling battles without touching battles: every count gets a random weight of the right size."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.weights import WeightMemory, weigh
from nuggetstream.ratings.options import Bootstrap

Floats = NDArray[np.float64]


class FractionalCounts(ValueError):
    """Drawing battles with replacement needs whole battles; weighted ones have no such resample."""


def draw(
    bootstrap: Bootstrap,
    pairs: Pairs,
    resamples: int,
    rng: np.random.Generator,
    memory: WeightMemory | None = None,
) -> Pairs:
    """R resamples of the counts of one data set.

    Bayesian: count ~ Gamma(count, 1) per cell, the sum of Exp(1) weights of its battles: a million cost
    no more than one. Multinomial: N whole battles over the cells, each as often as it was seen.

    Args:
        bootstrap: How resamples are drawn.
        pairs: (E,) counts.
        resamples: R, at least 1.
        rng: source of randomness.
        memory: weights of the Bayesian bootstrap that were drawn before; it changes no result.

    Returns:
        (R, E) counts.

    Raises:
        FractionalCounts: drawing whole battles from counts that are not whole.
        ValueError: a count that is missing or negative, or no resample.

    Source: Rubin, 1981 (Bayesian); Efron, 1979 (with replacement).
    """
    cells = pairs.cells
    if resamples < 1 or not (np.isfinite(cells).all() and (cells >= 0).all()):
        raise ValueError("a resample needs counts that are finite and not negative, and to be drawn")
    if bootstrap is Bootstrap.BAYESIAN:
        weights = cast("Floats", weigh(pairs, resamples, rng, memory))  # single precision is enough
        return pairs.counted(weights.transpose(2, 0, 1))
    return pairs.counted(_drawn_with_replacement(cells, resamples, rng))


def cluster_weights(bootstrap: Bootstrap, clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """(R, C) weights of whole clusters: Exp(1), or how often each was drawn.

    Args:
        bootstrap: How resamples are drawn.
        clusters: C, such as the number of queries or users.
        resamples: R.
        rng: source of randomness.

    Raises:
        ValueError: no cluster to draw, or no resample.

    Source: as `draw`; whole clusters: Field and Welsh, 2007.
    """
    if clusters < 1 or resamples < 1:
        raise ValueError(f"{resamples} resamples of {clusters} clusters")
    if bootstrap is Bootstrap.BAYESIAN:
        return rng.standard_exponential((resamples, clusters))
    even = np.full(clusters, 1 / clusters)
    return rng.multinomial(clusters, even, resamples).astype(np.float64)


def _drawn_with_replacement(cells: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """(R, 3, E) counts of as many battles as there were, each drawn from all of them."""
    if (cells % 1).any():
        raise FractionalCounts("the multinomial bootstrap draws whole battles; use the Bayesian one")
    total = cells.sum()
    drawn = rng.multinomial(int(total), cells.ravel() / max(total, 1.0), resamples)
    return drawn.astype(np.float64).reshape(resamples, *cells.shape)
