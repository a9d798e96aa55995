"""How far two lenses agree: battle by battle, and in the order of systems."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.counts import JointCount, PairCount
from nuggetstream.ratings.estimate import fit
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.tally import TiePolicy, rankable
from nuggetstream.ratings.votes import pairs_among
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa
from nuggetstream.statistics.inversions import inversions
from nuggetstream.statistics.ranks import kendall, spearman
from services.rater.rating import tally_of

ENOUGH = 3  # systems; the order of two can only agree or not


@dataclass(frozen=True, slots=True)
class LensAgreement:
    """Two lenses on the same battles; the message of the same name. None is what has no answer.

    Attributes:
        battles: decided by both.
        agreed: of these, with the same outcome; "both bad" is a tie.
        inverted: of these, one lens says A and the other B.
        kappa: Cohen's, over A, tie and B, quadratic weights, in [-1, 1].
        systems: ranked by both.
        tau_b: Kendall's, of the ratings, in [-1, 1].
        rho: Spearman's, likewise.
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


def ratings_of(counts: Sequence[PairCount], policy: TiePolicy) -> dict[str, float]:
    """Strengths in logits of the systems that can be ranked."""
    tally = tally_of(counts)
    group, _ = rankable(tally.points(policy))
    if not len(group):
        return {}
    try:
        theta, _ = fit(pairs_among(tally, group, policy), policy)
    except NotConverged:  # a model of ties without a solution ranks nobody
        return {}
    return {tally.systems[system]: float(theta[index]) for index, system in enumerate(group)}


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
