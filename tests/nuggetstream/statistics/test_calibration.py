"""Calibration by hand, at its bounds, and for forecasts whose answer is known."""

import random

import pytest

from nuggetstream.statistics.calibration import calibration


def test_error_and_brier_score_of_cases_counted_by_hand() -> None:
    found = calibration([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.65, 0.35]], [0, 1, 1, 0])
    assert found.cases == 4
    assert found.confidence == pytest.approx((0.9 + 0.7 + 0.8 + 0.65) / 4)
    assert (found.right.count, found.right.of) == (3, 4)
    assert [(each.low, each.right.count, each.right.of) for each in found.bins] == [
        (0.6, 1, 1),
        (0.7, 0, 1),
        (0.8, 1, 1),
        (0.9, 1, 1),
    ]
    assert found.error == pytest.approx((0.35 + 0.7 + 0.2 + 0.1) / 4)
    assert found.brier == pytest.approx((0.02 + 0.98 + 0.08 + 0.245) / 4)
    assert found.brier_of_shares == pytest.approx(0.5)


def test_certainty_belongs_to_the_last_bin() -> None:
    found = calibration([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0, 2])
    assert [(each.low, each.high) for each in found.bins] == [(0.9, 1.0)]
    assert (found.error, found.brier) == (0.0, 0.0)


def test_without_cases_nothing_is_known() -> None:
    found = calibration([], [])
    assert (found.cases, found.error, found.brier, found.right.value, found.bins) == (0, None, None, None, ())


def test_probabilities_that_are_right_have_a_small_error_and_exaggerated_ones_a_large_one() -> None:
    rng = random.Random(3)
    true = [rng.uniform(0.5, 1.0) for _ in range(20_000)]
    outcomes = [0 if rng.random() < share else 1 for share in true]
    honest = calibration([[share, 1 - share] for share in true], outcomes)
    sharper = [share**3 / (share**3 + (1 - share) ** 3) for share in true]
    exaggerated = calibration([[share, 1 - share] for share in sharper], outcomes)
    assert honest.error is not None
    assert exaggerated.error is not None
    assert honest.error < 0.015
    assert exaggerated.error > 5 * honest.error
    assert honest.brier is not None
    assert exaggerated.brier is not None
    assert honest.brier < exaggerated.brier


@pytest.mark.parametrize(
    ("rows", "outcomes", "problem"),
    [
        ([[0.5, 0.5]], [], "do not fit"),
        ([[0.5, 0.6]], [0], "not the probabilities"),
        ([[1.5, -0.5]], [0], "not the probabilities"),
        ([[float("nan"), 1.0]], [0], "not the probabilities"),
        ([[0.5, 0.5]], [2], "none of 2"),
        ([[0.5, 0.5]], [-1], "none of 2"),
    ],
)
def test_what_is_no_distribution_is_rejected(
    rows: list[list[float]], outcomes: list[int], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        calibration(rows, outcomes)
