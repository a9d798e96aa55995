"""Models in which a tie is an outcome of its own, instead of half a win for each.

    Davidson:    P(tie) / sqrt(P(i wins) · P(j wins)) = ν for every pair; ν ≥ 0
    Rao-Kupper:  P(i wins) = e^θi / (e^θi + κ e^θj): a system must be better by the factor κ ≥ 1

Both give P(i wins) : P(j wins) = e^(θi - θj) in the limit of few ties, so their strengths are on the
scale of Bradley-Terry.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford
from scipy.special import expit

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.newton import Bend, NotConverged, maximise
from nuggetstream.ratings.fitting.pairs import Pairs, Places

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _WithTies(ABC):
    """A log-likelihood of the R data sets of `pairs`."""

    size: int
    first: Places
    second: Places
    pairs: Pairs

    @property
    def batch(self) -> int:
        """R, the number of data sets."""
        return len(self.pairs.won)

    @abstractmethod
    def bend(self, rows: Places, gap: Floats, tie: Floats) -> Bend:
        """Derivatives of the data sets `rows` at gaps (R, E) and tie parameters (R,)."""


class Davidson(_WithTies):
    """Log-likelihood Σ won · d/2 - lost · d/2 + drawn · τ - played · log(e^(d/2) + e^(-d/2) + e^τ).

    d is the gap of the pair, τ = log ν. An exponential family, so concave in both.
    """

    def bend(self, rows: Places, gap: Floats, tie: Floats) -> Bend:
        """Slopes are counts minus expected counts, curves their covariances."""
        data = self.pairs.slice(rows)
        weights = np.stack([gap / 2, -gap / 2, np.broadcast_to(tie[:, None], gap.shape)])
        weights = np.exp(weights - weights.max(axis=0))
        win, loss, draw = weights / weights.sum(axis=0)
        margin, played = (win - loss) / 2, data.played
        return Bend(
            slope=(data.won - data.lost) / 2 - played * margin,
            curve=played * ((win + loss) / 4 - margin**2),
            cross=-played * margin * draw,
            tie_slope=(data.drawn - played * draw).sum(axis=1),
            tie_curve=(played * draw * (1 - draw)).sum(axis=1),
        )


class RaoKupper(_WithTies):
    """Log-likelihood Σ (won + drawn) log σ(d - η) + (lost + drawn) log σ(-d - η) + drawn log(e^2η - 1).

    d is the gap of the pair, η = log κ > 0, σ the logistic function. Concave in both.
    """

    def bend(self, rows: Places, gap: Floats, tie: Floats) -> Bend:
        """Each of the two logistic terms bends like one of Bradley-Terry."""
        data, eta = self.pairs.slice(rows), tie[:, None]
        up, down = expit(gap - eta), expit(-gap - eta)
        forward, backward = (data.won + data.drawn) * (1 - up), (data.lost + data.drawn) * (1 - down)
        bent_up, bent_down = forward * up, backward * down
        ties, gone = data.drawn.sum(axis=1), np.exp(-2 * tie)
        return Bend(
            slope=forward - backward,
            curve=bent_up + bent_down,
            cross=bent_down - bent_up,
            tie_slope=2 * ties / -np.expm1(-2 * tie) - (forward + backward).sum(axis=1),
            tie_curve=(bent_up + bent_down).sum(axis=1) + 4 * ties * gone / np.expm1(-2 * tie) ** 2,
        )


def fit_davidson(pairs: Pairs, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Maximum-likelihood strengths and ν of Davidson's model.

    Args:
        pairs: (R, E) counts of R data sets, each strongly connected.
        start: (K,) first guess.

    Returns:
        (R, K) strengths in logits with mean zero, (R,) ν; ν = 0 for data without ties.

    Raises:
        NotConverged: no finite solution, for instance when everybody always ties.

    Source: Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties", 1970.

    >>> two = Pairs(2, np.array([0]), np.array([1]), *np.array([[[4.0]], [[1.0]], [[2.0]]]))
    >>> theta, nu = fit_davidson(two)  # saturated: 4 / 1 = e^d, 2 / sqrt(4 · 1) = ν
    >>> float(np.exp(theta[0, 0] - theta[0, 1]).round(6)), float(nu[0].round(6))
    (4.0, 1.0)
    """
    return _fitted(Davidson, pairs, start, log_tie=0.0, without=0.0)


def fit_rao_kupper(pairs: Pairs, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Maximum-likelihood strengths and κ of Rao and Kupper's model.

    Args:
        pairs: (R, E) counts of R data sets, each strongly connected.
        start: (K,) first guess.

    Returns:
        (R, K) strengths in logits with mean zero, (R,) κ; κ = 1 for data without ties.

    Raises:
        NotConverged: no finite solution, for instance when everybody always ties.

    Source: Rao and Kupper, "Ties in Paired-Comparison Experiments", 1967.

    >>> even = Pairs(2, np.array([0]), np.array([1]), *np.array([[[3.0]], [[3.0]], [[6.0]]]))
    >>> theta, kappa = fit_rao_kupper(even)  # P(win) = 1 / (1 + κ) = 1 / 4
    >>> float(kappa[0].round(6))
    3.0
    """
    return _fitted(RaoKupper, pairs, start, log_tie=0.5, without=1.0, floor=0.0)


def determined(pairs: Pairs) -> bool:
    """Whether one data set with ties, strongly connected, has a finite tie parameter.

    It has none when some scale explains everything: systems placed so that every win bridges at least
    one unit and every tie at most one. By the theory of difference constraints such places exist unless
    some cycle of outcomes has more wins than ties.

    Args:
        pairs: (E,) counts.

    Source: existence: as Ford, 1957, for Bradley-Terry; difference constraints: Bellman, 1958.

    >>> circle = Pairs.of(np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]), np.zeros((3, 3)))
    >>> determined(circle)
    True
    >>> determined(circle.counted(circle.cells[[2, 2, 0]]))  # the same games, all tied
    False
    """
    weight = np.zeros((pairs.size, pairs.size))
    for counts, first, second, length in (
        (pairs.drawn, pairs.first, pairs.second, 1.0),
        (pairs.drawn, pairs.second, pairs.first, 1.0),
        (pairs.won, pairs.first, pairs.second, -1.0),
        (pairs.lost, pairs.second, pairs.first, -1.0),
    ):
        weight[first[counts > 0], second[counts > 0]] = length
    try:
        bellman_ford(weight, indices=np.array([0]))
    except NegativeCycleError:
        return True
    return False


def _check(pairs: Pairs) -> None:
    """Refuse a batch with a data set without a finite solution; resamples mostly have one pattern."""
    if not (np.isfinite(pairs.cells).all() and (pairs.cells >= 0).all()):
        raise NotConverged("counts are finite and not negative")
    if not pairs.connected().all():
        raise NotConverged("a data set is not strongly connected: it has no finite strengths")
    seen = pairs.cells > 0
    rows = [0] if (seen == seen[:1]).all() else range(len(seen))
    if not all(determined(pairs.slice(np.intp(row))) for row in rows):
        raise NotConverged("wins and ties do not determine how common ties are")


def _fitted(
    model: type[_WithTies],
    pairs: Pairs,
    start: Floats | None,
    *,
    log_tie: float,
    without: float,
    floor: float = -np.inf,
) -> tuple[Floats, Floats]:
    """Strengths (R, K) and the tie parameter (R,) of a model.

    Data sets without ties are plain Bradley-Terry, at the edge of the tie parameter's range.

    Args:
        model: The model.
        pairs: (R, E) counts.
        start: (K,) first guess of the strengths.
        log_tie: First guess of the logarithm of the tie parameter.
        without: Tie parameter of data without ties.
        floor: The logarithm stays above it.
    """
    tied = pairs.drawn.sum(axis=-1) > 0
    theta, tie = np.empty((len(tied), pairs.size)), np.full(len(tied), without)
    if not tied.all():
        theta[~tied] = fit_pairs(pairs.slice(np.flatnonzero(~tied)), start)
    if tied.any():
        some = pairs if tied.all() else pairs.slice(np.flatnonzero(tied))
        _check(some)
        guess = np.zeros((len(some.won), pairs.size)) + (0.0 if start is None else start)
        likelihood = model(pairs.size, pairs.first, pairs.second, some)
        state = maximise(likelihood, guess, np.full(len(some.won), log_tie), floor=floor)
        theta[tied], tie[tied] = state[:, :-1], np.exp(state[:, -1])
    return theta, tie
