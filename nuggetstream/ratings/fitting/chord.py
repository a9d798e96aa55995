"""Bradley-Terry strengths of many resamples of one data set, all at once.

Resamples differ little from the full data, so their Hessians do, too. The chord method inverts the Hessian of
the full data once and uses it in every step of every resample. A step then costs two passes over the counts
instead of a system of equations per resample, and shrinks the error by a factor of about the relative
scatter of the Hessians.

That scatter is known beforehand. In any direction of the strengths, the curvature of a resample is a sum of
the Exp(1) weights of battles, each times its share of the curvature of the full data. Where no share is above
1/n, the sum falls below a part d of its mean with a probability of at most (d e^(1-d))^n: for n = 50 and
d = 0.2 that is 3e-18. Data of which a few battles decide a direction are left to Newton's method, and so are
single resamples that do not settle. Where there are many systems, Newton's method starts from a coarse
result of the chord method.

Source: the chord method: Ortega and Rheinboldt, "Iterative Solution of Nonlinear Equations in Several
Variables", 1970; the bound: Chernoff, 1952.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nuggetstream.ratings.fitting.bradley_terry import checked, fit_pairs
from nuggetstream.ratings.fitting.newton import DRAWN
from nuggetstream.ratings.fitting.pairs import Pairs, Places

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_LARGEST_SHARE = 1 / 50  # of one battle in the curvature of any direction
_MAX_STEPS = 12  # one step of Newton's method costs about as much
_MARGIN = 2.0  # the factor by which steps shrink grows from step to step
_WORTH_LEAVING = 0.5  # share of the resamples that must have settled before the others are copied
_WORTH_A_START = 30  # systems; with fewer, a step of Newton's method is cheap
_AT_ONCE = 256  # resamples
_CHUNK = 2**15  # numbers worked on together: as many as stay in a processor's cache


def fit_resamples(resampled: Pairs, counts: Pairs, theta: Floats, *, precision: float = DRAWN) -> Floats:
    """Strengths of resamples, as `fit_pairs` computes them.

    Args:
        resampled: (R, E) counts of R resamples, in which independent battles are weighed or drawn.
        counts: (E,) counts of the full data.
        theta: (K,) strengths of the full data.
        precision: About the error that is left, in logits.

    Returns:
        (R, K) strengths in logits, mean zero.

    Raises:
        NotConverged: As `fit_pairs`.

    Source: See the module; the model: Bradley and Terry, 1952.

    >>> won, lost, drawn = np.array([[[90.0], [120.0]], [[30.0], [30.0]], [[0.0], [0.0]]])
    >>> pairs = Pairs(2, np.array([0]), np.array([1]), won, lost, drawn)
    >>> strengths = fit_resamples(pairs, pairs.slice(0), np.log([3.0, 1.0]))
    >>> np.exp(strengths[:, 0] - strengths[:, 1]).round(4).tolist()
    [3.0, 4.0]
    """
    inverse, share = _inverse_hessian(counts, theta)
    coarse = share > _LARGEST_SHARE
    if inverse is None or (coarse and counts.size < _WORTH_A_START):
        return fit_pairs(resampled, theta, precision=precision)
    checked(counts.counted(counts.cells[None]))
    runs, parts = tuple(_runs(counts, min(len(resampled.won), _AT_ONCE))), []
    for start in range(0, len(resampled.won), _AT_ONCE):
        part = resampled.slice(slice(start, start + _AT_ONCE))
        points, wanted = _points(part, counts, runs), precision**0.5 if coarse else precision
        strengths, settled = _climbed(points, inverse, theta, wanted)
        strengths[~settled] = theta
        if coarse or not settled.all():
            left = slice(None) if coarse else np.flatnonzero(~settled)
            strengths[left] = fit_pairs(part.slice(left), strengths[left], precision=precision)
        parts.append(strengths - strengths.mean(axis=1, keepdims=True))
    return np.concatenate(parts)


def _inverse_hessian(counts: Pairs, theta: Floats) -> tuple[Floats | None, float]:
    """(K, K) inverse of minus the second derivatives, in which the first system stays where it is.

    None where there is no inverse. With it the largest share of one battle in the curvature of a direction:
    p (1 - p) xᵀ H⁻¹ x of a battle between the systems of x = e_i - e_j.
    """
    chance = 0.5 + 0.5 * np.tanh(0.5 * (theta[counts.first] - theta[counts.second]))
    bend = chance * (1 - chance)
    hessian = np.zeros((counts.size, counts.size))
    hessian[counts.first, counts.second] = hessian[counts.second, counts.first] = -counts.played * bend
    np.fill_diagonal(hessian, -hessian.sum(axis=1))
    inverse = np.zeros_like(hessian)
    try:
        inverse[1:, 1:] = np.linalg.inv(hessian[1:, 1:])
    except np.linalg.LinAlgError:
        return None, np.inf
    own = np.diag(inverse)
    across = own[counts.first] + own[counts.second] - 2 * inverse[counts.first, counts.second]
    share = float((bend * across).max(initial=0.0))
    return (inverse if np.isfinite(share) else None), share


@dataclass(frozen=True, slots=True)
class _Run:
    """Pairs that are worked on together, as many as stay in a processor's cache.

    Attributes:
        pairs: Which pairs.
        first: (N,) first system of each.
        second: (N,) second system of each.
        signs: (K, N) +1 for the first, -1 for the second system of each.
    """

    pairs: slice
    first: Places
    second: Places
    signs: csr_array


def _runs(pairs: Pairs, resamples: int) -> Iterator[_Run]:
    count, size = len(pairs.first), max(_CHUNK // max(resamples, 1), 1)
    for start in range(0, count, size):
        part = slice(start, min(start + size, count))
        first, second, number = pairs.first[part], pairs.second[part], part.stop - part.start
        ends = np.concatenate([first, second]), np.tile(np.arange(number), 2)
        signs = csr_array((np.repeat([1.0, -1.0], number), ends), shape=(pairs.size, number))
        yield _Run(part, first, second, signs)


@dataclass(frozen=True, slots=True)
class _Points:
    """What the slope of the log-likelihood depends on, for E pairs of K systems in R resamples.

    Attributes:
        runs: The pairs.
        played: (E, R) battles.
        surplus: (K, R) points of each system as the first of a pair, less those of its opponents where it is
            the second.
    """

    runs: tuple[_Run, ...]
    played: Floats
    surplus: Floats

    def some(self, resamples: Flags) -> Self:
        """The points of some of the resamples."""
        return replace(self, played=self.played[:, resamples], surplus=self.surplus[:, resamples])

    def slope(self, theta: Floats) -> Floats:
        """(K, R) points taken less points expected, at strengths (K, R).

        Of a pair, the first system expects played · p points with p = e^θi / (e^θi + e^θj), which needs one
        exponential per system. Its surplus over that is what the second lacks.
        """
        odds, slope = np.exp(theta), self.surplus.copy()
        for run in self.runs:
            chance, both = odds[run.first], odds[run.second]
            both += chance
            chance /= both
            chance *= self.played[run.pairs]
            slope -= run.signs @ chance
        return slope


def _points(resampled: Pairs, counts: Pairs, runs: tuple[_Run, ...]) -> _Points:
    """The points of R resamples.

    Raises:
        NotConverged: As `fit_pairs`.
    """
    played = np.empty((len(counts.first), len(resampled.won)))
    surplus, linked = np.zeros((counts.size, len(resampled.won))), True
    for run in runs:
        won, lost, drawn = (
            cells[:, run.pairs].T for cells in (resampled.won, resampled.lost, resampled.drawn)
        )
        half = np.multiply(drawn, 0.5, dtype=np.float64)
        scored, conceded = half + won, np.add(half, lost, out=half)
        linked &= _alike(scored, counts.scored[run.pairs]) and _alike(conceded, counts.conceded[run.pairs])
        surplus += run.signs @ scored
        np.add(scored, conceded, out=played[run.pairs])
    if not linked:
        checked(resampled)
    return _Points(runs, played, surplus)


def _alike(resampled: Floats, counts: Floats) -> bool:
    """Whether (N, R) points are positive wherever the (N,) counts are, and nowhere negative."""
    if resampled.min() > 0:
        return True
    least = resampled.min(axis=1)
    return bool(((least > 0) | ((least == 0) & (counts == 0))).all())


def _climbed(points: _Points, inverse: Floats, start: Floats, precision: float) -> tuple[Floats, Flags]:
    """(R, K) strengths after the chord method, and (R,) whether they are as precise as asked for.

    The error after a step is about step · q / (1 - q), where q is the factor by which steps shrink.
    """
    resamples = points.played.shape[1]
    strengths, settled = np.tile(start, (resamples, 1)), np.zeros(resamples, dtype=np.bool_)
    active, theta = np.arange(resamples), strengths.T.copy()
    before = np.full(resamples, np.nan)  # the first step says nothing about the factor
    for left in reversed(range(_MAX_STEPS)):
        with np.errstate(all="ignore"):  # what leaves the range of numbers does not settle
            step = inverse @ points.slope(theta)
            theta += step
            longest = np.abs(step).max(axis=0)
            factor = longest / before
            done = (_MARGIN * longest * factor < precision * (1 - factor)) | (longest == 0)
            late = longest * factor**left > precision
        strengths[active], settled[active] = theta.T, done
        if (done | late).all():
            break
        before = longest
        if done.mean() >= _WORTH_LEAVING:
            active, theta, points = active[~done], theta[:, ~done], points.some(~done)
            before = before[~done]
    return strengths, settled
