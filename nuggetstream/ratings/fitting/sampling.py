"""What to ask next: how many battles until two systems are told apart, and which battles help most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from nuggetstream.ratings.fitting.sandwich import gap_variance
from nuggetstream.statistics.proportion import two_sided_z

Floats = NDArray[np.float64]

_EQUAL = 1e-6  # logits, under a thousandth of an Elo point: less than what a fit can tell from nothing


def battles_needed(
    theta: Floats, covariance: Floats, i: int, j: int, *, level: float = 0.95, power: float = 0.8
) -> int | None:
    """Direct battles between i and j still needed to tell them apart.

    m battles add information m · p(1 - p) about the gap, so its variance becomes
    1 / (1/V + m · p(1 - p)), and a gap g shows at this level with this power once
    |g| = (z_level + z_power) · sqrt(variance).

    Args:
        theta: (K,) strengths in logits: the gap as it looks now is taken for the true one.
        covariance: (K, K) of them.
        i: index of one system.
        j: index of the other.
        level: of the interval of the difference that is to exclude zero.
        power: how likely it then does, in [0.5, 1).

    Returns:
        Battles, 0 when there are enough already; None when the strengths are equal, as no number
        of battles tells equals apart, or so far apart that a battle has nothing left to say.

    Raises:
        ValueError: i is j, strengths or variance that are not finite, a level outside (0, 1), or a power
            outside [0.5, 1).

    Source: the sample size of a Wald test; Cohen, "Statistical Power Analysis", 1988.

    >>> apart = np.log([1.5, 1.0])
    >>> battles_needed(apart, np.eye(2), 0, 1)
    197
    """
    if i == j:
        raise ValueError("a system does not differ from itself")
    if not 0.5 <= power < 1:
        raise ValueError(f"a power of {power} is not in [0.5, 1)")
    gap, variance = float(theta[i] - theta[j]), float(gap_variance(covariance)[i, j])
    if not (np.isfinite(gap) and np.isfinite(variance)):
        raise ValueError("strengths or their variance are not finite")
    reach = two_sided_z(level) + float(ndtri(power))
    if abs(gap) < _EQUAL:
        return None
    if abs(gap) >= reach * variance**0.5:
        return 0
    bend = float(expit(gap) * expit(-gap))  # information that one battle adds
    return int(np.ceil(((reach / gap) ** 2 - 1 / variance) / bend)) if bend > 0 else None


@dataclass(frozen=True, slots=True)
class Advice:
    """What one more battle between two systems is worth.

    Attributes:
        i: index of one system.
        j: index of the other.
        shrinkage: share of the total variance of all strengths that one battle takes away, in [0, 1).
    """

    i: int
    j: int
    shrinkage: float


def most_informative(
    theta: Floats, covariance: Floats, count: int = 10, among: Sequence[int] | None = None
) -> list[Advice]:
    """Pairs whose next battle shrinks the intervals most.

    With x = e_i - e_j and w = p(1 - p), one battle changes the covariance C to
    C - C x xᵀ C / (1/w + xᵀ C x) (Sherman and Morrison); the trace sinks by |C x|² / (1/w + xᵀ C x).

    Args:
        theta: (K,) strengths in logits.
        covariance: (K, K) of them.
        count: how many pairs to return.
        among: indices of the systems that can battle; all, when None.

    Returns:
        Best pair first; equal ones in the order of their indices. None where nothing is left to learn.

    Raises:
        ValueError: strengths or a covariance that are not finite.

    Source: the A-criterion of optimal design; Chernoff, 1953.

    >>> known = np.diag([1.0, 1.0, 0.01])
    >>> [(advice.i, advice.j) for advice in most_informative(np.zeros(3), known, count=1)]
    [(0, 1)]
    """
    if not (np.isfinite(theta).all() and np.isfinite(covariance).all()):
        raise ValueError("strengths or their covariance are not finite")
    total = float(np.trace(covariance))
    if total <= 0:
        return []
    square = covariance @ covariance
    own = np.diag(square)
    moved = np.maximum(own[:, None] + own[None, :] - 2 * square, 0.0)  # rounding must not cross zero
    gap = theta[:, None] - theta[None, :]
    bend = expit(gap) * expit(-gap)
    worth = moved * bend / (1 + bend * gap_variance(covariance)) / total
    able = sorted(range(len(theta)) if among is None else set(among))
    pairs = [(i, j) for i in able for j in able if i < j]
    pairs.sort(key=lambda pair: (-worth[pair], pair))
    return [Advice(i, j, float(worth[i, j])) for i, j in pairs[:count]]
