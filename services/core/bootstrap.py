"""Resampling battles without touching battles: every count gets a random weight of the right size."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from services.core.pairs import Pairs

Floats = NDArray[np.float64]

_OPEN = 1e-9  # a Gamma draw may underflow to zero; the cell must stay open all the same


class FractionalCounts(ValueError):
    """Drawing battles with replacement needs whole battles; weighted ones have no such resample."""


class Bootstrap(StrEnum):
    """How a resample is drawn. Part of every board."""

    BAYESIAN = "bayesian"  # every battle weighs Exp(1): no cell ever empties
    MULTINOMIAL = "multinomial"  # N battles drawn with replacement: a cell may empty

    @property
    def keeps_cells(self) -> bool:
        """Whether data that can be ranked stay rankable in every resample."""
        return self is Bootstrap.BAYESIAN

    def draw(self, pairs: Pairs, resamples: int, rng: np.random.Generator) -> Pairs:
        """R resamples of the counts of one data set.

        Args:
            pairs: (E,) counts.
            resamples: R, at least 1.
            rng: source of randomness.

        Returns:
            (R, E) counts.

        Raises:
            FractionalCounts: drawing whole battles from counts that are not whole.
        """
        cells = pairs.cells
        seen = cells > 0
        if self is Bootstrap.BAYESIAN:
            weights = rng.standard_gamma(cells[seen], (resamples, int(seen.sum())))
            weights = np.maximum(weights, _OPEN, out=weights)
        else:
            weights = _drawn_with_replacement(cells[seen], resamples, rng)
        if seen.all():
            return pairs.counted(weights.reshape(resamples, *cells.shape))
        drawn = np.zeros((resamples, cells.size))
        drawn[:, np.flatnonzero(seen)] = weights
        return pairs.counted(drawn.reshape(resamples, *cells.shape))

    def weights(self, clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
        """(R, C) weights of whole clusters: Exp(1), or how often each was drawn.

        Args:
            clusters: C, such as the number of queries or users.
            resamples: R.
            rng: source of randomness.
        """
        if self is Bootstrap.BAYESIAN:
            return rng.standard_exponential((resamples, clusters))
        even = np.full(clusters, 1 / clusters)
        return rng.multinomial(clusters, even, resamples).astype(np.float64)


def _drawn_with_replacement(counts: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """(R, cells) counts of as many battles as there were, each drawn from all of them."""
    if (counts % 1).any():
        raise FractionalCounts("the multinomial bootstrap draws whole battles; use the Bayesian one")
    total = counts.sum()
    return rng.multinomial(int(total), counts / max(total, 1.0), resamples).astype(np.float64)


def resample(wins: Floats, drawn: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Bayesian bootstrap of counts: every battle gets an exponential weight of mean 1.

    Summed over the battles of a cell these weights are one Gamma draw, so a million battles cost no
    more than one. Unlike resampling with replacement, no cell ever becomes empty: data that can be
    ranked stay rankable in every resample, and small samples show as wide intervals instead of
    crashes. A drawn battle has one weight, half of which goes to each side.

    Args:
        wins: (K, K) decisive wins of i over j.
        drawn: (K, K) symmetric; battles that count half for each side.
        resamples: R, at least 1.
        rng: source of randomness.

    Returns:
        (R, K, K) resampled points.

    Source: Rubin, "The Bayesian Bootstrap", 1981.
    """
    return Bootstrap.BAYESIAN.draw(Pairs.of(wins, drawn), resamples, rng).points()
