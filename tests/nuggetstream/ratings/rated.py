"""Ratings of whole matrices, by the way that every board takes: estimate, then summarise."""

import numpy as np

from nuggetstream.ratings.fitting.estimate import estimate
from nuggetstream.ratings.fitting.intervals import Estimates, summarise
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted
from nuggetstream.ratings.options import Bootstrap


def rate(
    wins: np.ndarray,
    drawn: np.ndarray,
    rng: np.random.Generator,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    bootstrap: Bootstrap = Bootstrap.BAYESIAN,
) -> Estimates:
    tally = Tally(tuple(map(str, range(len(wins)))), wins, drawn, np.zeros_like(wins))
    everybody = np.arange(len(wins))
    found = estimate(Counted(tally), everybody, rng, bootstrap=bootstrap, resamples=resamples)
    return summarise(found, level=level)
