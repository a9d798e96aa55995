"""Newton's method for paired-comparison models, many data sets in one go.

Every model here is a concave log-likelihood of the gaps θ_first - θ_second and, where ties have an
outcome of their own, of one tie parameter. A model says how its likelihood bends; this module climbs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_MAX_STEP = 2.0  # logits; keeps Newton inside the region where its quadratic model means something
EXACT, DRAWN = 1e-10, 1e-6  # logits; resamples scatter by far more than 1e-6, which is 0.0002 Elo
_FEW = 8  # data sets; from here on a dense product is faster than a sparse one
_MAX_ITERATIONS = 200
_CHUNK = 2**16  # numbers worked on together: as many as stay in a processor's cache


class NotConverged(ArithmeticError):
    """Newton did not settle; the points are not strongly connected or not finite."""


@dataclass(frozen=True, slots=True)
class Bend:
    """First and second derivatives of a log-likelihood of R data sets over E pairs.

    Attributes:
        slope: (R, E) by the gap.
        curve: (R, E) minus the second derivative by the gap.
        cross: (R, E) minus the mixed derivative by gap and tie parameter; None without one.
        tie_slope: (R,) by the tie parameter.
        tie_curve: (R,) minus the second derivative by the tie parameter.
    """

    slope: Floats
    curve: Floats
    cross: Floats | None = None
    tie_slope: Floats | None = None
    tie_curve: Floats | None = None


class Model(Protocol):
    """A log-likelihood of the strengths of `size` systems."""

    @property
    def size(self) -> int:
        """K, the number of systems."""

    @property
    def first(self) -> Places:
        """(E,) first system of each pair."""

    @property
    def second(self) -> Places:
        """(E,) second system of each pair."""

    @property
    def batch(self) -> int:
        """R, the number of data sets."""

    def bend(self, rows: Places, gap: Floats, tie: Floats) -> Bend:
        """Derivatives of the data sets `rows` at gaps (R, E) and tie parameters (R,)."""


def maximise(
    model: Model,
    theta: Floats,
    tie: Floats | None = None,
    *,
    floor: float = -np.inf,
    precision: float = EXACT,
) -> Floats:
    """Climb to the maximum of every data set of a batch.

    Args:
        model: the log-likelihood of R data sets.
        theta: (R, K) first guess of the strengths.
        tie: (R,) first guess of the tie parameter, for models that have one.
        floor: the tie parameter stays above it.
        precision: about the error that is left, in logits. Newton squares its error, so that a data set
            has settled after a step shorter than the root of it.

    Returns:
        (R, K) strengths with mean zero; (R, K + 1) with the tie parameter last.

    Raises:
        NotConverged: a data set has no finite maximum.

    Source: Newton's method for paired comparisons: Hunter, "MM Algorithms for Generalized Bradley-Terry
    Models", 2004, which compares it with others.
    """
    if not _linked(model):
        raise NotConverged("there are islands: no battle links some systems to the others")
    state = np.array(theta if tie is None else np.concatenate([theta, tie[:, None]], axis=1))
    ends = _Incidence.of(model)
    for rows in _chunks(model):
        state[rows] = _climb(model, ends, rows, state[rows], floor=floor, settled=precision**0.5)
    state[:, : model.size] -= state[:, : model.size].mean(axis=1, keepdims=True)
    return np.asarray(state)


def _linked(model: Model) -> bool:
    """Whether pairs that met link all systems; between islands the equations have no single solution."""
    met = csr_array((np.ones(len(model.first)), (model.first, model.second)), shape=(model.size, model.size))
    return bool(connected_components(met, directed=False)[0] <= 1)


def _chunks(model: Model) -> Iterator[Places]:
    numbers = max(model.size**2, len(model.first), 1)
    size = max(_CHUNK // numbers, 1)
    for start in range(0, model.batch, size):
        yield np.arange(start, min(start + size, model.batch))


@dataclass(frozen=True, slots=True)
class _Incidence:
    """Which systems a pair is of: sums over pairs become sums over systems by one product.

    Attributes:
        signed: (E, K) +1 for the first, -1 for the second.
        plain: (E, K) 1 for both.
    """

    signed: Floats | csr_array
    plain: Floats | csr_array

    @classmethod
    def of(cls, model: Model) -> Self:
        pairs = len(model.first)
        cells = np.tile(np.arange(pairs), 2), np.concatenate([model.first, model.second])
        ends = np.repeat([1.0, -1.0], pairs)
        signed = csr_array((ends, cells), shape=(pairs, model.size))
        if model.batch < _FEW:
            return cls(signed, abs(signed))
        return cls(signed.toarray(), abs(signed).toarray())


def _climb(
    model: Model, ends: _Incidence, rows: Places, state: Floats, *, floor: float, settled: float
) -> Floats:
    """Newton's method for each data set, until all have settled."""
    active = np.arange(len(rows))
    for _ in range(_MAX_ITERATIONS):
        here = state[active]
        bend = _bend(model, rows[active], here)
        try:
            step = _solved(_hessian(model, ends, bend), _gradient(ends, bend))
        except np.linalg.LinAlgError:
            break
        longest = np.abs(step).max(axis=1, initial=0.0)
        if not np.isfinite(longest).all():
            break
        state[active] = here + _damped(model, here, step, floor)
        active = active[longest >= settled]
        if not len(active):
            return state
    raise NotConverged("the counts do not determine finite strengths")


def _solved(hessian: Floats, gradient: Floats) -> Floats:
    """The Newton step. Strengths are known up to a constant: the first system stays where it is."""
    step = np.zeros_like(gradient)
    step[:, 1:] = np.linalg.solve(hessian[:, 1:, 1:], gradient[:, 1:, None])[..., 0]
    return step


def _bend(model: Model, rows: Places, state: Floats) -> Bend:
    if (state == state[0]).all():
        state = state[:1]  # resamples start from one guess: what a model expects there is computed once
    gap = state[:, model.first] - state[:, model.second]
    return model.bend(rows, gap, state[:, -1])


def _damped(model: Model, here: Floats, step: Floats, floor: float) -> Floats:
    """The step, shortened to what the quadratic model can be trusted with."""
    longest = np.abs(step).max(axis=1, initial=0.0)
    scale = np.minimum(1.0, _MAX_STEP / np.maximum(longest, _MAX_STEP))
    if here.shape[1] > model.size:
        room, down = here[:, -1] - floor, np.maximum(-step[:, -1], 1e-300)
        scale = np.minimum(scale, 0.75 * room / down)
    return np.asarray(step * scale[:, None])


def _gradient(ends: _Incidence, bend: Bend) -> Floats:
    """(R, K) points taken less points expected; (R, K + 1) with the slope by the tie parameter."""
    gradient = np.asarray(bend.slope @ ends.signed)
    if bend.tie_slope is None:
        return gradient
    return np.concatenate([gradient, bend.tie_slope[:, None]], axis=1)


def _hessian(model: Model, ends: _Incidence, bend: Bend) -> Floats:
    """(R, K, K) minus the second derivatives: a graph Laplacian, bordered by the tie parameter's."""
    size = model.size
    wide = size if bend.cross is None else size + 1
    hessian = np.zeros((len(bend.curve), wide, wide))
    hessian[:, model.first, model.second] = -bend.curve
    hessian[:, model.second, model.first] = -bend.curve
    diagonal = np.arange(size)
    hessian[:, diagonal, diagonal] = bend.curve @ ends.plain
    if bend.cross is not None and bend.tie_curve is not None:
        hessian[:, :size, size] = hessian[:, size, :size] = bend.cross @ ends.signed
        hessian[:, size, size] = bend.tie_curve
    return hessian
