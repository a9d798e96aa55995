"""Bradley-Terry strengths from counts, with honest uncertainty.

    P(i beats j) = 1 / (1 + exp(θj - θi))

The cost depends on the number of systems that met, never on the number of battles.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from services.core.bootstrap import Bootstrap, resample
from services.core.intervals import ELO_PER_LOGIT, Ratings, Strengths, summarise
from services.core.newton import DRAWN, EXACT, Bend, NotConverged, maximise
from services.core.pairs import Pairs, Places

__all__ = [
    "ELO_PER_LOGIT",
    "BradleyTerry",
    "NotConverged",
    "Ratings",
    "chances",
    "fit",
    "fit_pairs",
    "rate",
    "resample",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Log-likelihood Σ scored · log p + (played - scored) · log(1 - p), p = P(first beats second).

    Attributes:
        size: K.
        first: (E,) first of each pair.
        second: (E,) second of each pair.
        scored: (R, E) points of the first.
        played: (R, E) battles.
    """

    size: int
    first: Places
    second: Places
    scored: Floats
    played: Floats

    @property
    def batch(self) -> int:
        """R, the number of data sets."""
        return len(self.scored)

    def bend(self, rows: Places, gap: Floats, tie: Floats) -> Bend:  # noqa: ARG002  (has no tie parameter)
        """Slope scored - played · p, curve played · p · (1 - p)."""
        chance, played = 0.5 + 0.5 * np.tanh(0.5 * gap), self.played[rows]  # five times as fast as expit
        expected = played * chance
        return Bend(self.scored[rows] - expected, expected * (1 - chance))


def fit(points: Floats, start: Floats | None = None) -> Floats:
    """Maximum-likelihood strengths, in logits with mean zero, by Newton's method.

    The log-likelihood Σ points[i, j] · log P(i beats j) is concave; its gradient is points taken
    minus points expected, its Hessian a weighted graph Laplacian. Leading axes are a batch, solved
    together in one call.

    Args:
        points: (..., K, K); points i took from j, half-points welcome. Every slice strongly
            connected (see `tally.rankable`).
        start: (..., K) or (K,) first guess.

    Returns:
        (..., K) strengths.

    Raises:
        NotConverged: when a slice is not strongly connected, has fewer than two systems, or a count that is
            missing or negative.

    Source: Bradley and Terry, 1952; existence: Ford, 1957.

    >>> strengths = fit(np.array([[0.0, 3.0], [1.0, 0.0]]))
    >>> round(float(np.exp(strengths[0] - strengths[1])), 6)
    3.0
    """
    return fit_pairs(Pairs.of(points, np.zeros_like(points)), start)


def fit_pairs(pairs: Pairs, start: Floats | None = None, *, precision: float = EXACT) -> Floats:
    """`fit` for counts per pair, ties half a point for each.

    Args:
        pairs: (..., E) counts.
        start: (..., K) or (K,) first guess.
        precision: about the error that is left, in logits.

    Returns:
        (..., K) strengths in logits, mean zero.

    Raises:
        NotConverged: as `fit`.

    Source: as `fit`.
    """
    if pairs.size < 2:
        raise NotConverged(f"{pairs.size} systems: a strength compares at least two")
    batch = pairs.won.shape[:-1]
    flat = (-1, len(pairs.first)) if len(pairs.first) else (int(np.prod(batch)), 0)
    scored, played = pairs.scored.reshape(flat), pairs.played.reshape(flat)
    if not (np.isfinite(played).all() and (scored >= 0).all() and (played >= scored).all()):
        raise NotConverged("counts are finite and not negative")
    model = BradleyTerry(pairs.size, pairs.first, pairs.second, scored, played)
    theta = np.zeros((*batch, pairs.size)) + (0.0 if start is None else start)
    flat_theta = maximise(model, theta.reshape(-1, pairs.size), precision=precision)
    return flat_theta.reshape(*batch, pairs.size)


def chances(theta: Floats) -> Floats:
    """(..., K, K) probability in (0, 1) that i beats j, ties left aside: 1 / (1 + exp(θj - θi)).

    Args:
        theta: (..., K) strengths in logits.

    Source: Bradley and Terry, 1952.

    >>> chances(np.log([3.0, 1.0])).round(2).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    return np.asarray(expit(theta[..., :, None] - theta[..., None, :]))


def rate(
    wins: Floats,
    drawn: Floats,
    rng: np.random.Generator,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    center: float = 1000.0,
    anchor: tuple[int, float] | None = None,
    bootstrap: Bootstrap = Bootstrap.BAYESIAN,
) -> Ratings:
    """Ratings, intervals, ranks and chances of being first.

    Args:
        wins: (K, K) decisive wins of i over j.
        drawn: (K, K) symmetric counts of battles that are half a win for each; together with `wins`
            strongly connected.
        rng: source of randomness; the same seed gives the same board.
        resamples: bootstrap resamples, solved in one batch.
        level: of the percentile interval, in (0, 1).
        center: mean rating of the K systems, unless there is an anchor.
        anchor: (index, rating): this system has this rating, in every resample too.
        bootstrap: how resamples are drawn.

    Returns:
        (K,) Elo points, higher is better; see `Ratings`.

    Raises:
        NotConverged: as `fit`.
        ValueError: no resample, or a level outside (0, 1).

    Source: as `fit`; resamples: Rubin, 1981, or Efron, 1979.
    """
    pairs = Pairs.of(wins, drawn)
    theta = fit_pairs(pairs)
    drawn_counts = bootstrap.draw(pairs, resamples, rng)
    usable = (
        drawn_counts if bootstrap.keeps_cells else drawn_counts.slice(drawn_counts.connected().nonzero()[0])
    )
    draws = fit_pairs(usable, start=theta, precision=DRAWN)
    return summarise(
        Strengths(theta, draws, resamples - len(draws)), level=level, center=center, anchor=anchor
    )
