"""Ratings with symmetric intervals, as a covariance of the strengths gives them."""

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.combined_standing import Rating
from nuggetstream.ratings.fitting.sandwich import normal_ratings
from nuggetstream.ratings.groups import normal_ranks
from nuggetstream.ratings.interval import interval

Floats = NDArray[np.float64]


def normally_rated(
    theta: Floats,
    covariance: Floats,
    level: float,
    anchor: tuple[int, float] | None,
    freedom: Floats | None = None,
) -> list[Rating]:
    """The rating of every system, in the order of the strengths.

    Args:
        theta: (K,) strengths in logits.
        covariance: (K, K), in logits squared.
        level: Level of the intervals.
        anchor: Index and rating of the system whose rating is fixed; None for a mean of 1000.
        freedom: (K,) degrees of freedom of the variances; the normal distribution when None.
    """
    scaled = normal_ratings(theta, covariance, level=level, anchor=anchor, freedom=freedom)
    ratings = []
    for index, rank in enumerate(normal_ranks(theta, covariance, level, freedom).tolist()):
        fixed = anchor is not None and anchor[0] == index
        around = interval(float(scaled.low[index]), float(scaled.high[index]), fixed=fixed)
        ratings.append(Rating(float(scaled.rating[index]), around.low, around.high, rank, around.state))
    return ratings
