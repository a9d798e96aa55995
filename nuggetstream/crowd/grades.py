"""Grades of a few answers to one topic, from pairwise labels that may be ties.

    P(i beats j) = eⁱ / (eⁱ + eʲ⁺ᵗ)
    P(i ties j)  = eⁱ⁺ʲ (e²ᵗ - 1) / ((eⁱ + eʲ⁺ᵗ) (eⁱ⁺ᵗ + eʲ))

i and j are merits, t > 0 how close two answers must be to be called equal. Every answer also wins and
loses a fraction of a comparison against a dummy of merit 1, so that merits stay finite for an answer that
never loses. Grades are ranks within the topic and mean nothing outside it.

Source: Rao and Kupper, 1967; Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", 2025.
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

TIE_MARGIN = 0.05
DUMMY_WEIGHT = 0.2
_DUMMY_MERIT = 1.0
# Largest gradient component that counts as the top. The curvature is at least 2 · weight · p(1 - p).
_GRADIENT = 1e-8
SAME_MERIT = 1e-6  # merits closer than this are the same but for rounding


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pairwise label about items i and j, as indices; `tie` says that neither wins."""

    winner: int
    loser: int
    tie: bool = False


def merits(
    comparisons: Sequence[Comparison],
    items: int,
    *,
    tie_margin: float = TIE_MARGIN,
    dummy_weight: float = DUMMY_WEIGHT,
) -> Floats:
    """Maximum-likelihood merits of the items, by BFGS.

    The log-likelihood is strictly concave because of the dummy, so there is one answer, whatever the order
    of comparisons.

    Args:
        comparisons: any number; a pair may occur several times.
        items: how many there are, at least 1; one without comparisons gets the dummy's merit.
        tie_margin: t, above 0.
        dummy_weight: above 0; how much of a win and of a loss against the dummy each item has.

    Returns:
        (items,) merits in logits, higher is better, only differences matter.

    Raises:
        ValueError: an item out of range or compared with itself, or a parameter that is not above 0.

    >>> bool(np.diff(merits([Comparison(1, 0)], 2))[0] > 0)
    True
    """
    if items < 1 or not (tie_margin > 0 and dummy_weight > 0):
        raise ValueError("there must be an item, and tie margin and dummy weight must be above 0")
    for c in comparisons:
        if c.winner == c.loser or not (0 <= c.winner < items and 0 <= c.loser < items):
            raise ValueError(f"{c} compares no two of {items} items")
    wins = np.array([(c.winner, c.loser) for c in comparisons], dtype=np.intp).reshape(-1, 2)
    tied = wins[[c.tie for c in comparisons]]
    # log P(tie) = log P(i beats j) + log P(j beats i) + a constant: a tie is a win for both.
    wins = np.concatenate([wins, tied[:, ::-1]])

    def cost(merit: Floats) -> tuple[float, Floats]:
        lead = merit[wins[:, 0]] - merit[wins[:, 1]] - tie_margin
        above = merit - _DUMMY_MERIT
        value = np.logaddexp(0, -lead).sum()
        value += dummy_weight * (np.logaddexp(0, -above) + np.logaddexp(0, above)).sum()
        surprise = expit(-lead)
        slope = dummy_weight * (expit(above) - expit(-above))
        np.subtract.at(slope, wins[:, 0], surprise)
        np.add.at(slope, wins[:, 1], surprise)
        return float(value), slope

    found = minimize(cost, np.full(items, _DUMMY_MERIT), jac=True, method="BFGS", options={"gtol": _GRADIENT})
    return np.asarray(found.x)


def grades(names: Sequence[Item], merit: Floats, comparisons: Sequence[Comparison] = ()) -> dict[Item, int]:
    """Name -> grade 1 (worst) to n (best).

    A grade is a rank, so answers of the same merit still get different grades: the one with more wins
    than losses against the others of that merit is higher; where that is equal too, order is arbitrary
    and the later name is higher.

    Args:
        names: n names.
        merit: (n,) as `merits` returns them.
        comparisons: that the merits come from.

    Returns:
        1..n, each once, higher is better.

    Raises:
        ValueError: not one merit per name, or a merit that is not finite; it would sort to the top.

    >>> grades(["x", "y", "z"], np.array([0.5, 2.0, 0.5]), [Comparison(0, 2)])
    {'z': 1, 'x': 2, 'y': 3}
    """
    if len(names) != len(merit):
        raise ValueError(f"{len(merit)} merits for {len(names)} items")
    if not np.isfinite(merit).all():
        raise ValueError("a merit is missing or not finite")
    level = _levels(merit)
    direct = np.zeros(len(names))
    for c in comparisons:
        if not c.tie and level[c.winner] == level[c.loser]:
            direct[c.winner] += 1
            direct[c.loser] -= 1
    order = np.lexsort((direct, level))
    return {names[int(place)]: grade for grade, place in enumerate(order, start=1)}


def _levels(merit: Floats) -> NDArray[np.intp]:
    """(n,) rank of each merit among the distinct ones, from 0."""
    order = np.argsort(merit)
    steps = np.cumsum(np.diff(merit[order], prepend=merit[order][:1]) > SAME_MERIT)
    level = np.empty(len(merit), dtype=np.intp)
    level[order] = steps
    return level


def same_order(
    graded: Mapping[Item, int], merit: Mapping[Item, float], tolerance: float = SAME_MERIT
) -> bool:
    """Whether grades order items as their merits do, items of the same merit in any order."""
    ascending = [merit[name] for name in sorted(graded, key=lambda name: graded[name])]
    return all(later >= earlier - tolerance for earlier, later in pairwise(ascending))
