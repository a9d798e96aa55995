"""Ratings with style held equal: what is left of a preference for a system once length, citations and
markup are accounted for.

    logit P(A preferred) = θ_A - θ_B + Σ β · x

x is the standardised difference of a feature between the two answers. The coefficients say how much
style itself was preferred, the strengths how the systems compare at equal style. A ridge pulls the
coefficients towards zero, so that style explains less and the strengths more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from scipy.special import expit

from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.leverage import Clustered, between
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.tally import rankable
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.statistics.student import two_sided_t
from nuggetstream.text.style import FEATURES

Floats = NDArray[np.float64]

_LARGEST_STEP, _SETTLED, _ITERATIONS, _SINGULAR = 2.0, 1e-9, 100, 1e12


class StyleUndetermined(ValueError):
    """The features cannot be told apart from each other or from the systems in these battles."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """How much a feature of style was preferred.

    Attributes:
        feature: its name.
        value: logits per standard deviation of the relative difference; positive: more was preferred.
            None when the feature never differs between two answers.
        error: Sandwich standard error of `value`; None where `value` is None.
        low: Lower bound of the interval of `value`; None where `value` is None.
        high: Upper bound of the interval of `value`; None where `value` is None.
        deviation: root mean square of the relative difference, the unit of `value`.
    """

    feature: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    deviation: float


@dataclass(frozen=True, slots=True)
class Controlled:
    """Strengths at equal style.

    Attributes:
        systems: names of the ranked systems.
        theta: (K,) strengths in logits with mean zero.
        covariance: (K, K) sandwich, clustered as the ballots are; for `sandwich.normal_ratings`.
        freedom: (K,) degrees of freedom of its variances.
        coefficients: one per feature.
        unranked: systems that the votes cannot rank.
    """

    systems: tuple[str, ...]
    theta: Floats
    covariance: Floats
    freedom: Floats
    coefficients: tuple[Coefficient, ...]
    unranked: tuple[str, ...]


def relative_difference(of_a: Floats, of_b: Floats) -> Floats:
    """(a - b) / (a + b) per feature, 0 where neither answer has any.

    Args:
        of_a: (N, F) non-negative amounts in the answers of A.
        of_b: (N, F) non-negative amounts in the answers of B.

    Returns:
        (N, F) in [-1, 1]; swapping the answers changes the sign and nothing else.

    Raises:
        ValueError: amounts that are negative or not finite.

    Source: as `control`.

    >>> relative_difference(np.array([[3.0, 0.0]]), np.array([[1.0, 0.0]])).tolist()
    [[0.5, 0.0]]
    """
    if not (np.isfinite(of_a).all() and np.isfinite(of_b).all() and (of_a >= 0).all() and (of_b >= 0).all()):
        raise ValueError("amounts of style are finite and not negative")
    total = of_a + of_b
    return np.divide(of_a - of_b, total, out=np.zeros_like(total), where=total > 0)


def control(
    ballots: Ballots,
    difference: Floats,
    names: Sequence[str] = FEATURES,
    *,
    policy: TiePolicy = TiePolicy.HALF,
    level: float = 0.95,
    ridge: float = 0.0,
) -> Controlled:
    """Fit strengths and coefficients of style together.

    Differences are divided by their root mean square, not centred: centring would give one side of the
    screen a head start.

    Args:
        ballots: N votes; ties are half a win for each.
        difference: (N, F) of a feature, A's minus B's, such as `relative_difference`.
        names: F names.
        policy: which ballots count.
        level: of the intervals of the coefficients.
        ridge: penalty ridge / 2 · Σ β² of the mean log-likelihood of a vote; 1 is the default of arena-rank.

    Returns:
        Strengths and coefficients in logits; a positive coefficient: more of it was preferred.

    Raises:
        ValueError: shapes that do not fit, differences that are not finite, a level outside (0, 1).
        StyleUndetermined: collinear features, or too few clusters.
        NotConverged: style predicts every vote, so that no finite coefficient fits.

    Source: Li, Angelopoulos, Chiang, "Does style matter? Disentangling style and substance in Chatbot
    Arena", 2024; the standard errors of Liang and Zeger, 1986; the ridge: arena-rank 0.1.1,
    `ContextualBradleyTerry`, which also centres the differences and weighs every pair alike.
    """
    if difference.shape != (len(ballots.a), len(names)) or not np.isfinite(difference).all():
        raise ValueError(f"{len(ballots.a)} votes and {len(names)} features need as many finite differences")
    if policy.models_ties:
        raise ValueError("style control counts a tie as half a win or not at all")
    group, reasons = rankable(ballots.tally.points(policy))
    index_of = np.full(len(ballots.systems), -1)
    index_of[group] = np.arange(len(group))
    counts = ballots.counting(policy) & (index_of[ballots.a] >= 0) & (index_of[ballots.b] >= 0)
    used = np.flatnonzero(counts & (ballots.weight > 0))
    if not len(used):
        raise StyleUndetermined("no two systems can be ranked by these votes")
    votes, x = ballots.pick(used), difference[used]
    deviation = np.sqrt(votes.weight @ x**2 / votes.weight.sum())
    varies = np.flatnonzero(deviation > 0)
    design = _design(index_of[votes.a], index_of[votes.b], x[:, varies] / deviation[varies], len(group))
    beta, matrix, freedom = _solve(design, votes, len(group), ridge)
    return Controlled(
        systems=tuple(ballots.systems[index] for index in group),
        theta=beta[: len(group)],
        covariance=matrix[: len(group), : len(group)],
        freedom=freedom[: len(group)],
        coefficients=_coefficients(names, deviation, *_of_style(beta, matrix, freedom, len(group), level)),
        unranked=tuple(ballots.systems[index] for index in reasons),
    )


def _design(a: NDArray[np.intp], b: NDArray[np.intp], style: Floats, size: int) -> csr_array:
    """(N, K + F): +1 for A, -1 for B, then the standardised differences."""
    return csr_array(hstack([between(a, b, size), csr_array(style)]))


def _solve(design: csr_array, votes: Ballots, size: int, ridge: float) -> tuple[Floats, Floats, Floats]:
    """Newton for the logistic regression, strengths with mean zero, its clustered sandwich and freedom."""
    beta, weight = np.zeros(design.shape[1]), votes.weight
    penalty = ridge * weight.sum() * (np.arange(len(beta)) >= size)
    pin = np.zeros((len(beta), len(beta)))
    pin[:size, :size] = 1 / size  # strengths are known up to a constant: their mean is held at zero
    for iteration in range(_ITERATIONS):
        chance = expit(design @ beta)
        bent = (design.T @ design.multiply((weight * chance * (1 - chance))[:, None])).toarray()
        bent = bent + pin * np.trace(bent) / len(beta) + np.diag(penalty)
        if np.linalg.cond(bent) > _SINGULAR:
            if iteration == 0:  # every vote still bends alike: the features themselves are to blame
                raise StyleUndetermined("features are collinear, or follow from which systems battle")
            break
        step = np.linalg.solve(bent, design.T @ (weight * (votes.score - chance)) - penalty * beta)
        beta = beta + step * min(1.0, _LARGEST_STEP / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < _SETTLED:
            return beta, *_sandwich(design, bent, votes, chance)
    raise NotConverged("style predicts the votes perfectly; no finite coefficient fits")


def _sandwich(design: csr_array, bent: Floats, votes: Ballots, chance: Floats) -> tuple[Floats, Floats]:
    """Clustered; of strengths with mean zero, as every row of the design takes from B what it gives to A."""
    names, member = np.unique(votes.cluster, return_inverse=True)
    if len(names) < 2:
        raise StyleUndetermined("one cluster says nothing about how clusters differ")
    fit = Clustered(
        design=design,
        curve=votes.weight * chance * (1 - chance),
        push=votes.weight * (votes.score - chance),
        bread=np.asarray(np.linalg.inv(bent)),
        cluster=member.astype(np.intp),
    )
    return fit.covariance(), fit.freedom(design.shape[1] - 1)


def _of_style(
    beta: Floats, matrix: Floats, freedom: Floats, size: int, level: float
) -> tuple[Floats, Floats, Floats]:
    """Values, errors and quantiles of the coefficients behind the strengths."""
    return beta[size:], np.sqrt(np.diag(matrix)[size:]), two_sided_t(level, freedom[size:])


def _coefficients(
    names: Sequence[str], deviation: Floats, beta: Floats, errors: Floats, quantiles: Floats
) -> tuple[Coefficient, ...]:
    """Coefficients in the order of the names; those that never vary are not in `beta`."""
    fitted = iter(zip(beta.tolist(), errors.tolist(), quantiles.tolist(), strict=True))
    coefficients = []
    for name, unit in zip(names, deviation.tolist(), strict=True):
        if not unit:
            coefficients.append(
                Coefficient(feature=name, value=None, error=None, low=None, high=None, deviation=0.0)
            )
            continue
        value, error, quantile = next(fitted)
        coefficients.append(
            Coefficient(
                feature=name,
                value=value,
                error=error,
                low=value - quantile * error,
                high=value + quantile * error,
                deviation=unit,
            )
        )
    return tuple(coefficients)
