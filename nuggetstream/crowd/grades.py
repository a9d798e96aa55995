"""Grades of a few answers to one topic, from pairwise labels that may be ties.

    P(i beats j) = eⁱ / (eⁱ + eʲ⁺ᵗ)
    P(i ties j)  = eⁱ⁺ʲ (e²ᵗ - 1) / ((eⁱ + eʲ⁺ᵗ) (eⁱ⁺ᵗ + eʲ))

i and j are the merits of two answers. t > 0 says how close two merits must be for a tie. The regularisation
λ > 0 adds to every answer λ wins and λ losses against a dummy answer of merit 1, so that the merit of an
answer that never loses stays finite. Grades are ranks within a topic and mean nothing outside it.

Source: Rao and Kupper, 1967; Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]
Item = TypeVar("Item", bound=Hashable)

TIE = 0.05
REGULARISATION = 0.2
SAME_MERIT = 1e-6  # merits closer than this are equal but for rounding
_DUMMY_MERIT = 1.0
# Largest component of the gradient at the maximum. The curvature is at least 2 · λ · p(1 - p).
_GRADIENT = 1e-8


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pairwise label of two items, as indices; with `tie` neither wins."""

    winner: int
    loser: int
    tie: bool = False


def merits(
    comparisons: Sequence[Comparison],
    items: int,
    *,
    tie: float = TIE,
    regularisation: float = REGULARISATION,
) -> Floats:
    """Maximum-likelihood merits of the items, by BFGS.

    The regularisation makes the log-likelihood strictly concave, so there is one answer, whatever the order
    of the comparisons.

    Args:
        comparisons: Any number of comparisons; a pair may occur several times.
        items: Number of items, at least 1. An item without comparisons gets the merit of the dummy.
        tie: t, above 0.
        regularisation: λ, above 0.

    Returns:
        (items,) merits in logits, higher is better; only differences have a meaning.

    Raises:
        ValueError: An item is out of range or compared with itself, or a parameter is not above 0.

    Source: Rao and Kupper, 1967.

    >>> bool(np.diff(merits([Comparison(1, 0)], 2))[0] > 0)
    True
    """
    if items < 1 or not (tie > 0 and regularisation > 0):
        raise ValueError("there must be an item, and tie (t) and regularisation (λ) must be above 0")
    for c in comparisons:
        if c.winner == c.loser or not (0 <= c.winner < items and 0 <= c.loser < items):
            raise ValueError(f"{c} compares no two of {items} items")
    wins = np.array([(c.winner, c.loser) for c in comparisons], dtype=np.intp).reshape(-1, 2)
    tied = wins[[c.tie for c in comparisons]]
    # log P(tie) = log P(i beats j) + log P(j beats i) + a constant: a tie is a win for both.
    wins = np.concatenate([wins, tied[:, ::-1]])

    def cost(merit: Floats) -> tuple[float, Floats]:
        lead = merit[wins[:, 0]] - merit[wins[:, 1]] - tie
        above = merit - _DUMMY_MERIT
        value = np.logaddexp(0, -lead).sum()
        value += regularisation * (np.logaddexp(0, -above) + np.logaddexp(0, above)).sum()
        surprise = expit(-lead)
        slope = regularisation * (expit(above) - expit(-above))
        np.subtract.at(slope, wins[:, 0], surprise)
        np.add.at(slope, wins[:, 1], surprise)
        return float(value), slope

    start = np.full(items, _DUMMY_MERIT)
    maximum = minimize(cost, start, jac=True, method="BFGS", options={"gtol": _GRADIENT})
    return np.asarray(maximum.x)


def grades(names: Sequence[Item], merit: Floats, comparisons: Sequence[Comparison] = ()) -> dict[Item, int]:
    """Name -> grade from 1 (worst) to n (best).

    A grade is a rank, so answers of equal merit still get different grades: the answer with more wins than
    losses against the others of that merit is higher. Where that is equal too the order is arbitrary, and
    the later name is higher.

    Args:
        names: n names.
        merit: (n,) merits, as `merits` returns them.
        comparisons: The comparisons that the merits were computed from.

    Returns:
        Every grade from 1 to n once, higher is better.

    Raises:
        ValueError: There is not one merit per name, or a merit is not finite; it would sort to the top.

    >>> grades(["x", "y", "z"], np.array([0.5, 2.0, 0.5]), [Comparison(0, 2)])
    {'z': 1, 'x': 2, 'y': 3}
    """
    if len(names) != len(merit):
        raise ValueError(f"{len(merit)} merits for {len(names)} items")
    if not np.isfinite(merit).all():
        raise ValueError("a merit is missing or not finite")
    level = merit_levels(merit)
    direct = np.zeros(len(names))
    for c in comparisons:
        if not c.tie and level[c.winner] == level[c.loser]:
            direct[c.winner] += 1
            direct[c.loser] -= 1
    ascending = np.lexsort((direct, level))
    return {names[int(index)]: grade for grade, index in enumerate(ascending, start=1)}


def merit_levels(merit: Floats) -> NDArray[np.intp]:
    """(n,) rank of each merit among the distinct merits, from 0 (lowest); equal merits share a rank.

    >>> merit_levels(np.array([0.5, 2.0, 0.5 + 1e-9])).tolist()
    [0, 1, 0]
    """
    order = np.argsort(merit)
    steps = np.cumsum(np.diff(merit[order], prepend=merit[order][:1]) > SAME_MERIT)
    level = np.empty(len(merit), dtype=np.intp)
    level[order] = steps
    return level


def same_order(
    graded: Mapping[Item, int], merit: Mapping[Item, float], tolerance: float = SAME_MERIT
) -> bool:
    """Whether grades order items as their merits do; items of equal merit may be in any order."""
    ascending = [merit[name] for name in sorted(graded, key=lambda name: graded[name])]
    return all(later >= earlier - tolerance for earlier, later in pairwise(ascending))
