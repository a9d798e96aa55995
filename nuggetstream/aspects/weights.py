"""W-LLM: one acceptability score from the aspects a judge rates one by one.

    score = w₁ factuality / 3 + w₂ (1 - |amount|) + w₃ (1 - |formality|)

Amount of information and formality are rated from -1 (too little, too casual) over 0 (right) to 1 (too
much, too formal), so their distance from 0 is what costs.

Source: Kamoda et al., "Quantifying the Influence of Evaluation Aspects on Long-Form Response Assessment",
2025; weights from its regression on human ratings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FACTUALITY_SCALE = 3.0
_NAMES = ("intercept", "factuality", "amount", "formality")


class DegenerateRatings(ValueError):
    """The ratings do not determine the weights: too few, or an aspect that never varies."""


@dataclass(frozen=True, slots=True)
class AspectRating:
    """The aspects of one answer.

    Attributes:
        factuality: 0..3, higher is more factual.
        amount: Amount of information, -1..1, 0 is right. A mean of |amount| over raters can stand here, too.
        formality: -1..1, 0 is right.

    Raises:
        ValueError: An aspect is off its scale or not a number.
    """

    factuality: float
    amount: float
    formality: float

    def __post_init__(self) -> None:
        inside = (
            0 <= self.factuality <= FACTUALITY_SCALE and abs(self.amount) <= 1 and abs(self.formality) <= 1
        )
        if not inside:
            raise ValueError(f"an aspect is off its scale: {self}")


@dataclass(frozen=True, slots=True)
class AspectWeights:
    """The weight of each aspect in a score."""

    factuality: float
    amount: float
    formality: float


PUBLISHED_WEIGHTS = AspectWeights(2.048, 0.739, 0.335)
EQUAL_WEIGHTS = AspectWeights(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Refit:
    """Weights fitted to human acceptability by ordinary least squares.

    Attributes:
        weights: Weights of the three aspects.
        errors: Standard errors of the weights.
        intercept: Acceptability of an answer that earns nothing.
        intercept_error: Standard error of the intercept.
        r_squared: Share of the variance explained, in [0, 1].
        answers: Number of answers.
    """

    weights: AspectWeights
    errors: AspectWeights
    intercept: float
    intercept_error: float
    r_squared: float
    answers: int


def features(rating: AspectRating) -> tuple[float, float, float]:
    """The numbers that the weights multiply: (factuality / 3, 1 - |amount|, 1 - |formality|), each in [0, 1].

    >>> features(AspectRating(1.5, -1.0, 0.0))
    (0.5, 0.0, 1.0)
    """
    return rating.factuality / FACTUALITY_SCALE, 1 - abs(rating.amount), 1 - abs(rating.formality)


def weighted_score(rating: AspectRating, weights: AspectWeights = PUBLISHED_WEIGHTS) -> float:
    """The W-LLM score, from 0 to the sum of the weights, higher is better.

    >>> weighted_score(AspectRating(3.0, 0.0, 1.0), EQUAL_WEIGHTS)
    2.0
    """
    factuality, amount, formality = features(rating)
    return weights.factuality * factuality + weights.amount * amount + weights.formality * formality


def refit(ratings: Sequence[AspectRating], acceptability: Sequence[float]) -> Refit:
    """Weights that predict acceptability best, by least squares with an intercept.

    β = (XᵀX)⁻¹ Xᵀy, standard errors √(s² diag (XᵀX)⁻¹) with s² = |y - Xβ|² / (n - 4).

    Args:
        ratings: Aspects of n answers (means over their raters).
        acceptability: n numbers in the same order.

    Returns:
        Weights in units of acceptability, with standard errors.

    Raises:
        ValueError: The lengths differ, or a number is not finite.
        DegenerateRatings: There are fewer than five answers, aspects are constant or move together, or the
            acceptability never varies.
    """
    if len(ratings) != len(acceptability):
        raise ValueError(f"{len(ratings)} ratings cannot be paired with {len(acceptability)} acceptabilities")
    y = np.asarray(acceptability, dtype=float)
    design = np.array([(1.0, *features(rating)) for rating in ratings]).reshape(-1, len(_NAMES))
    if not np.isfinite(y).all():  # a rating off its scale cannot be made
        raise ValueError("an acceptability is missing or not finite")
    if len(y) <= len(_NAMES) or np.linalg.matrix_rank(design) < len(_NAMES) or np.ptp(y) == 0:
        raise DegenerateRatings(f"{len(y)} answers do not determine {len(_NAMES)} coefficients")
    return _least_squares(design, y)


def _least_squares(design: NDArray[np.float64], y: NDArray[np.float64]) -> Refit:
    # By QR: the same solution as the normal equations without squaring the condition number.
    q, r = np.linalg.qr(design)
    beta = np.linalg.solve(r, q.T @ y)
    residual = y - design @ beta
    variance = residual @ residual / (len(y) - len(_NAMES))
    inverse = np.linalg.inv(r)
    errors = np.sqrt(variance * (inverse**2).sum(axis=1))
    spread = ((y - y.mean()) ** 2).sum()
    return Refit(
        weights=AspectWeights(*map(float, beta[1:])),
        errors=AspectWeights(*map(float, errors[1:])),
        intercept=float(beta[0]),
        intercept_error=float(errors[0]),
        r_squared=float(1 - residual @ residual / spread),
        answers=len(y),
    )
