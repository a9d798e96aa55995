"""Bradley-Terry strengths from counts.

    P(i beats j) = 1 / (1 + exp(θj - θi))

The cost depends on the number of systems that met, never on the number of battles.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.newton import EXACT, Bend, NotConverged, maximise
from nuggetstream.ratings.fitting.pairs import Pairs, Places

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
    batch, edges, flat = pairs.won.shape[:-1], len(pairs.first), pairs
    if len(batch) != 1:
        flat = pairs.counted(pairs.cells.reshape(int(np.prod(batch)), 3, edges))
    checked(flat)
    model = BradleyTerry(pairs.size, pairs.first, pairs.second, flat.scored, flat.played)
    theta = np.zeros((*batch, pairs.size)) + (0.0 if start is None else start)
    flat_theta = maximise(model, theta.reshape(-1, pairs.size), precision=precision)
    return flat_theta.reshape(*batch, pairs.size)


def checked(pairs: Pairs) -> None:
    """Refuse data sets without finite strengths.

    Args:
        pairs: (R, E) counts.

    Raises:
        NotConverged: Fewer than two systems, a count that is missing or negative, or a data set that is not
            strongly connected.
    """
    if pairs.size < 2:
        raise NotConverged(f"{pairs.size} systems: a strength compares at least two")
    for counts in (pairs.won, pairs.lost, pairs.drawn):
        if counts.size and not (counts.min() >= 0 and counts.max() < np.inf):
            raise NotConverged("counts are finite and not negative")
    if not pairs.connected().all():  # Newton may stop all the same, far out where every chance is 0 or 1
        raise NotConverged("a data set is not strongly connected: it has no finite strengths")
