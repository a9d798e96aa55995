"""How far two lenses agree: battle by battle, and in the order of systems."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.comparison import LensAgreement
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa
from nuggetstream.statistics.inversions import inversions
from nuggetstream.statistics.ranks import kendall, spearman

ENOUGH = 3  # systems; the order of two can only agree or not


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How far two boards order the same systems alike.

    Attributes:
        systems: Systems rated on both.
        tau_b: Kendall's tau-b of the ratings, in [-1, 1]; None where it does not exist.
        rho: Spearman's rho of the ratings, in [-1, 1]; None where it does not exist.
        missing: Why there are no coefficients; None where there are.
    """

    systems: int
    tau_b: float | None
    rho: float | None
    missing: str | None = None


def order_agreement(first: Mapping[str, float], second: Mapping[str, float]) -> OrderAgreement:
    """Compare the orders of the systems that both boards rate.

    Args:
        first: Ratings or strengths of one board by system.
        second: Those of the other one.
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < ENOUGH:
        missing = f"{len(shared)} systems are rated by both; an order needs at least {ENOUGH}"
        return OrderAgreement(len(shared), None, None, missing)
    # What a fit leaves beyond six digits must not order systems that are equal.
    x, y = ([round(strength[name], 6) for name in shared] for strength in (first, second))
    tau, rho = kendall(x, y), spearman(x, y)
    if tau is None or rho is None:
        missing = "one of the lenses rates all systems alike: there is no order to compare"
        return OrderAgreement(len(shared), None, None, missing)
    return OrderAgreement(len(shared), tau.coefficient, rho.coefficient)


def agree(
    lenses: tuple[Lens, Lens],
    joint: Mapping[tuple[Vote | None, Vote | None], int],
    strengths: tuple[Mapping[str, float], Mapping[str, float]],
) -> LensAgreement:
    """Compare two lenses battle by battle and by the order of their boards.

    Args:
        lenses: The two lenses.
        joint: Number of battles by what the two say about them; None where a lens says nothing.
        strengths: Strengths of the systems that each lens ranks.
    """
    confusion = np.zeros((3, 3))
    for (one, other), count in joint.items():
        if one is not None and other is not None:
            confusion += count * confusion_of([one], [other])
    battles, kappa = int(confusion.sum()), weighted_kappa(confusion)
    note = None
    if kappa is None:
        note = "Both lenses always give the same outcome." if battles else "No battle is decided by both."
    order = order_agreement(*strengths)
    return LensAgreement(
        first=lenses[0],
        second=lenses[1],
        battles=battles,
        agreed=int(np.trace(confusion)),
        inverted=int(inversions(confusion).inverted),
        kappa=kappa,
        kappa_note=note,
        systems=order.systems,
        tau_b=order.tau_b,
        rho=order.rho,
        order_note=None if order.missing is None else f"{order.missing[0].upper()}{order.missing[1:]}.",
    )
