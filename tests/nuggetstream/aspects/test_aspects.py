"""One score from aspects, and its weights from human ratings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.aspects.weights import (
    EQUAL_WEIGHTS,
    PUBLISHED_WEIGHTS,
    AspectRating,
    DegenerateRatings,
    Refit,
    features,
    refit,
    weighted_score,
)

RATING = st.builds(AspectRating, st.floats(0, 3), st.floats(-1, 1), st.floats(-1, 1))


def varied(n: int, seed: int = 0) -> list[AspectRating]:
    rng = np.random.default_rng(seed)
    rows = zip(rng.uniform(0, 3, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), strict=True)
    return [AspectRating(*map(float, row)) for row in rows]


def test_the_score_of_a_perfect_answer_is_the_sum_of_the_weights() -> None:
    assert weighted_score(AspectRating(3, 0, 0)) == pytest.approx(2.048 + 0.739 + 0.335)
    assert weighted_score(AspectRating(0, -1, 1)) == 0


def test_an_answer_by_hand() -> None:
    assert weighted_score(AspectRating(1.5, -1, 0.5)) == pytest.approx(2.048 / 2 + 0 + 0.335 / 2)


@given(RATING)
def test_too_much_costs_as_much_as_too_little(rating: AspectRating) -> None:
    mirrored = AspectRating(rating.factuality, -rating.amount, -rating.formality)
    assert weighted_score(rating) == weighted_score(mirrored)
    assert 0 <= weighted_score(rating, EQUAL_WEIGHTS) <= 3


@pytest.mark.parametrize("aspects", [(3.1, 0, 0), (-1, 0, 0), (1, 1.5, 0), (1, 0, -2), (float("nan"), 0, 0)])
def test_an_aspect_off_its_scale_is_refused(aspects: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="off its scale"):
        AspectRating(*aspects)


def test_a_fit_to_exact_scores_finds_the_weights_that_made_them() -> None:
    ratings = varied(30)
    fitted = refit(ratings, [weighted_score(rating) - 0.25 for rating in ratings])
    assert fitted.weights.factuality == pytest.approx(PUBLISHED_WEIGHTS.factuality)
    assert fitted.weights.amount == pytest.approx(PUBLISHED_WEIGHTS.amount)
    assert fitted.weights.formality == pytest.approx(PUBLISHED_WEIGHTS.formality)
    assert fitted.intercept == pytest.approx(-0.25)
    assert fitted.r_squared == pytest.approx(1)
    assert fitted.errors.amount == pytest.approx(0, abs=1e-12)


def noisy(n: int) -> tuple[list[AspectRating], list[float]]:
    ratings = varied(n)
    noise = np.random.default_rng(1).normal(0, 0.3, n)
    return ratings, [weighted_score(r) + float(e) for r, e in zip(ratings, noise, strict=True)]


def numbers(result: Refit) -> list[float]:
    one, other = result.weights, result.errors
    return [
        *(result.intercept, one.factuality, one.amount, one.formality),
        *(result.intercept_error, other.factuality, other.amount, other.formality),
    ]


def test_estimates_and_errors_are_those_of_the_normal_equations() -> None:
    ratings, acceptability = noisy(40)
    x = np.array([(1, *features(rating)) for rating in ratings])
    y = np.array(acceptability)
    beta = np.linalg.inv(x.T @ x) @ x.T @ y
    variance = ((y - x @ beta) ** 2).sum() / (40 - 4)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    assert numbers(refit(ratings, acceptability)) == pytest.approx([*beta, *errors])


def test_scikit_learn_finds_the_same_weights() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    ratings, acceptability = noisy(40)
    theirs = linear.LinearRegression().fit([features(rating) for rating in ratings], acceptability)
    assert numbers(refit(ratings, acceptability))[:4] == pytest.approx([theirs.intercept_, *theirs.coef_])


def test_the_order_of_answers_never_matters() -> None:
    ratings, acceptability = noisy(25)
    assert numbers(refit(ratings[::-1], acceptability[::-1])) == pytest.approx(
        numbers(refit(ratings, acceptability))
    )


def test_data_that_do_not_determine_the_weights_have_none() -> None:
    with pytest.raises(DegenerateRatings):
        refit(varied(4), [1, 2, 3, 4])
    with pytest.raises(DegenerateRatings):
        refit([], [])
    with pytest.raises(DegenerateRatings):
        refit(varied(10), [2.0] * 10)
    constant = [AspectRating(rating.factuality, 0, rating.formality) for rating in varied(10)]
    with pytest.raises(DegenerateRatings):
        refit(constant, list(range(10)))


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        refit(varied(10), [1.0])
    with pytest.raises(ValueError, match="finite"):
        refit(varied(10), [float("nan")] * 10)


def test_aspects_of_nothing_have_no_weights() -> None:
    with pytest.raises(DegenerateRatings):
        refit([AspectRating(1, 0, 0)] * 9, [float(n) for n in range(9)])
    with pytest.raises(ValueError, match="off its scale"):
        AspectRating(1, float("nan"), 0)
