"""Ratings of whole matrices, by the way that every board takes: estimate, then summarise."""

import numpy as np

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import Estimates, summarise
from nuggetstream.ratings.tally import Tally
from nuggetstream.ratings.votes import Counted


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
