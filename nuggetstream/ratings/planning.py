"""Which two systems to compare next, so that the best few are known with few labels."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.prior import (
    covariance_without_phantom,
    with_prior,
    without_phantom,
)
from nuggetstream.ratings.fitting.sampling import battles_needed
from nuggetstream.ratings.fitting.sandwich import gap_variance, information
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]

TOP = 5
_PRIOR = 2.0  # pseudo-battles of every system: one win and one loss
_PRECISE = 1e-6  # logits


@dataclass(frozen=True, slots=True)
class Need:
    """How much the boards need one more label on two systems.

    Attributes:
        a: Name of one system.
        b: Name of the other one, behind it in the alphabet.
        worth: Expected information about which systems are the best, in no unit; larger is more.
    """

    a: str
    b: str
    worth: float


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where the best systems end: the last of them and the first behind them, as the labels stand.

    Attributes:
        last: The last system among the best.
        next: The first system that is not.
        labels: Direct labels that the two still need to be told apart, at 95% with a power of 0.8; 0 where
            they are, None where the gap says nothing yet.
    """

    last: str
    next: str
    labels: int | None


def label_needs(tally: Tally, among: Collection[tuple[str, str]], top: int = TOP) -> list[Need]:
    """How much the boards need one more label on each of some pairs of systems.

    The strengths and their covariance C are those of a Bradley-Terry model with a weak prior, so that they
    exist before any label does. For every system m of the best `top` and every system n behind them,
    v = variance of the gap g between them, and exp(-g² / 2v) / v weighs how doubtful their order is. With
    x = e_i - e_j and w = p(1 - p), one more label on i and j takes w (xᵀ C y)² / (1 + w xᵀ C x) from the
    variance of y = e_m - e_n (Sherman and Morrison). The worth of i and j is the weighted sum over all m, n.

    Args:
        tally: The labels so far; it names every system that a pair has.
        among: Pairs of systems that can be compared.
        top: Number of systems that are to be known; with no more systems than that, the best one is.

    Returns:
        One need per pair, the most needed first; equal ones by name.

    Raises:
        ValueError: `top` is less than 1, or a pair names an unknown system or one system twice.

    Source: c-optimal design; Chernoff, "Locally optimal designs for estimating parameters", 1953. The weights
        follow optimal computing budget allocation for a subset; Chen, He, Fu and Lee, 2008.

    >>> tally = Tally(("x", "y", "z"), np.array([[0, 5, 9], [4, 0, 9], [0, 0, 0.0]]), *np.zeros((2, 3, 3)))
    >>> [(need.a, need.b) for need in label_needs(tally, [("x", "y"), ("x", "z")], top=1)]
    [('x', 'y'), ('x', 'z')]
    """
    index = {name: number for number, name in enumerate(tally.systems)}
    pairs = sorted({(a, b) if a < b else (b, a) for a, b in among})
    if any(a == b or a not in index or b not in index for a, b in pairs):
        raise ValueError("a pair has two different systems that the tally names")
    if not pairs:
        return []
    worth = _worth(*strengths_with_prior(tally), _best(tally, top))
    needs = [Need(a, b, float(worth[index[a], index[b]])) for a, b in pairs]
    return sorted(needs, key=lambda need: (-need.worth, need.a, need.b))


def boundary(tally: Tally, top: int = TOP) -> Boundary | None:
    """Where the best systems end, and how many labels that still needs; None for fewer than two systems.

    Args:
        tally: The labels so far.
        top: As in `label_needs`.
    """
    if len(tally.systems) < 2:
        return None
    theta, covariance = strengths_with_prior(tally)
    order = np.argsort(-theta, kind="stable")
    last, behind = (int(order[_best(tally, top) + step]) for step in (-1, 0))
    needed = battles_needed(theta, covariance, last, behind)
    return Boundary(tally.systems[last], tally.systems[behind], needed)


def _best(tally: Tally, top: int) -> int:
    if top < 1:
        raise ValueError(f"the best {top} systems are none")
    return top if top < len(tally.systems) else 1


def strengths_with_prior(tally: Tally) -> tuple[Floats, Floats]:
    """Strengths of all systems, also of those without a label: a Bradley-Terry model with a weak prior.

    Args:
        tally: The labels so far.

    Returns:
        (K,) strengths in logits with mean zero, and their (K, K) covariance, by the curvature of likelihood
        and prior.

    Source: as `with_prior`.
    """
    wins, ties = tally.wins, tally.drawn(TiePolicy.HALF)
    pairs = with_prior(Pairs.of(wins, ties), _PRIOR)
    theta = fit_pairs(pairs, precision=_PRECISE)
    among = np.zeros((pairs.size, pairs.size))
    among[:-1, :-1] = np.linalg.inv(information(theta, pairs)[:-1, :-1])  # the phantom is where zero is
    return without_phantom(theta), covariance_without_phantom(among)


def _worth(theta: Floats, covariance: Floats, top: int) -> Floats:
    """(K, K) worth of one more label on each pair."""
    order = np.argsort(-theta, kind="stable")
    last, behind = np.repeat(order[:top], len(order) - top), np.tile(order[top:], top)
    variance = gap_variance(covariance)
    gap, spread = theta[last] - theta[behind], variance[last, behind]
    weight = np.exp(-(gap**2) / (2 * spread)) / spread
    moved = covariance[last] - covariance[behind]  # (contrasts, K)
    square = (moved * weight[:, None]).T @ moved
    own = np.diag(square)
    bend = expit(theta[:, None] - theta) * expit(theta - theta[:, None])
    return np.asarray((own[:, None] + own - 2 * square) * bend / (1 + bend * variance))
