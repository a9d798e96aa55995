"""How far two lenses agree: battle by battle, and in the order of systems."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.model import Ratings
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa
from nuggetstream.statistics.inversions import inversions
from nuggetstream.statistics.ranks import kendall, spearman

ENOUGH = 3  # systems; the order of two can only agree or not


@dataclass(frozen=True, slots=True)
class LensAgreement:
    """Two lenses on the same battles. A coefficient is None where it does not exist, and its note says why.

    Attributes:
        first: One lens.
        second: The other one.
        battles: Battles decided by both.
        agreed: Battles of these with the same outcome; "both bad" counts as a tie.
        inverted: Battles of these in which one lens says A and the other B.
        kappa: Cohen's kappa over A, tie and B with quadratic weights, in [-1, 1].
        kappa_note: Why there is no kappa; empty where there is one.
        systems: Systems ranked by both.
        tau_b: Kendall's tau-b of the ratings, in [-1, 1].
        rho: Spearman's rho of the ratings, in [-1, 1].
        order_note: Why there is no tau or rho; empty where there is one.
    """

    first: Lens
    second: Lens
    battles: int
    agreed: int
    inverted: int
    kappa: float | None
    kappa_note: str
    systems: int
    tau_b: float | None
    rho: float | None
    order_note: str


def strengths_of(ratings: Ratings) -> dict[str, float]:
    """Strengths in logits of the systems that have a rating."""
    fit = ratings.fit
    return {} if fit is None else dict(zip(fit.systems, fit.theta.tolist(), strict=True))


def agree(
    lenses: tuple[Lens, Lens],
    joint: Sequence[JointCount],
    ratings: tuple[dict[str, float], dict[str, float]],
) -> LensAgreement:
    """Compare two lenses.

    Args:
        lenses: their names.
        joint: what the two say about the same battles.
        ratings: of the systems that each ranks.
    """
    confusion = np.zeros((3, 3))
    for cell in joint:
        if cell.first is not None and cell.second is not None:
            confusion += cell.count * confusion_of([cell.first], [cell.second])
    battles, kappa = int(confusion.sum()), weighted_kappa(confusion)
    note = ""
    if kappa is None:
        note = "Both lenses always say the same one thing." if battles else "No battle is decided by both."
    shared = sorted(ratings[0].keys() & ratings[1].keys())
    tau, rho, order_note = _orders([[rating[name] for name in shared] for rating in ratings])
    return LensAgreement(
        first=lenses[0],
        second=lenses[1],
        battles=battles,
        agreed=int(np.trace(confusion)),
        inverted=int(inversions(confusion).inverted),
        kappa=kappa,
        kappa_note=note,
        systems=len(shared),
        tau_b=tau,
        rho=rho,
        order_note=order_note,
    )


def _orders(ratings: Sequence[Sequence[float]]) -> tuple[float | None, float | None, str]:
    if (shared := len(ratings[0])) < ENOUGH:
        return None, None, f"{shared} systems are ranked by both; an order needs at least {ENOUGH}."
    # Beyond six digits is what a fit leaves; it must not order systems that are equal.
    x, y = ([round(rating, 6) for rating in each] for each in ratings)
    tau, rho = kendall(x, y), spearman(x, y)
    if tau is None or rho is None:
        return None, None, "One of the lenses rates all systems alike: there is no order to compare."
    return tau.coefficient, rho.coefficient, ""
