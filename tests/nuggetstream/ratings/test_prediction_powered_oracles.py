"""Combined estimates against their formulas written out."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings

from nuggetstream.ratings.fitting.prediction_powered import Judged, ratings
from nuggetstream.ratings.win_rates import win_rate
from tests.nuggetstream.ratings.drawn import SEEDS
from tests.nuggetstream.ratings.equations import slopes


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_combined_win_rate_is_its_formula_summed_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.choice([0, 0.5, 1], 30)
    judge, more = np.where(rng.random(30) < 0.3, 1.0, human), rng.choice([0, 0.5, 1], 90)
    found = win_rate(human, judge, more)
    trust, rest = found.tuning, [h - found.tuning * j for h, j in zip(human, judge, strict=True)]
    assert found.combined.value == pytest.approx(trust * sum(more) / 90 + sum(rest) / 30)
    spread = sum((r - sum(rest) / 30) ** 2 for r in rest) / 29 / 30
    spread += trust**2 * sum((m - sum(more) / 90) ** 2 for m in more) / 89 / 90
    assert found.combined.error == pytest.approx(sqrt(spread))
    assert (found.combined.low + found.combined.high) / 2 == pytest.approx(found.combined.value)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_combined_ratings_minimise_the_loss_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = np.tile([0, 1, 2, 0, 2, 1], 40), np.tile([1, 2, 0, 2, 1, 0], 40)
    human = rng.choice([0.0, 1.0], 60)
    judge = np.where(rng.random(240) < 0.2, 1.0, np.append(human, rng.choice([0.0, 1.0], 180)))
    people, rest = Judged(a[:60], b[:60], human), Judged(a[60:], b[60:], judge[60:])
    found = ratings(3, people, judge[:60], rest)
    assert found.combined is not None

    def loss(theta: np.ndarray, votes: Judged) -> float:
        lead = theta[votes.a] - theta[votes.b]
        return float(np.mean(np.logaddexp(0, lead) - votes.score * lead))

    def total(theta: np.ndarray) -> np.ndarray:
        judged = Judged(people.a, people.b, judge[:60])
        parts = loss(theta, people), found.tuning * (loss(theta, rest) - loss(theta, judged))
        return np.array(sum(parts))

    assert slopes(total, found.combined.theta, 1e-5) == pytest.approx(np.zeros(3), abs=1e-7)
    assert found.combined.theta.sum() == pytest.approx(0, abs=1e-9)
