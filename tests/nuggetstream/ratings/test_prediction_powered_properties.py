"""Combined estimates depend neither on the order of votes nor on sides."""

import numpy as np
import pytest
from hypothesis import given

from nuggetstream.ratings.fitting.prediction_powered import Judged, ratings
from nuggetstream.ratings.win_rates import win_rate
from tests.nuggetstream.ratings.drawn import SEEDS, few, seeded


@given(SEEDS)
@few
def test_prediction_powered_estimates_do_not_care_about_order_or_side(seed: int) -> None:
    rng = seeded(seed)
    a = np.append([0, 1, 2], rng.integers(0, 3, 77))
    b = np.append([1, 2, 0], (a[3:] + rng.integers(1, 3, 77)) % 3)
    human, judge = np.append([1, 1, 1], rng.choice([0, 0.5, 1], 37)), rng.choice([0.0, 1.0], 80)
    early, order = slice(0, 40), rng.permutation(40)

    def both(turn: bool, place: np.ndarray) -> np.ndarray:
        one, two = (b, a) if turn else (a, b)
        people = Judged(one[early][place], two[early][place], (1 - human if turn else human)[place])
        shown = 1 - judge if turn else judge
        found = ratings(3, people, shown[early][place], Judged(one[40:], two[40:], shown[40:]))
        rates = win_rate(people.score, shown[early][place], shown[40:])
        edge = rates.combined.value - 0.5
        assert found.combined is not None
        assert 0 <= found.tuning <= 1
        return np.append(found.combined.theta, [-edge if turn else edge, rates.combined.error, rates.tuning])

    plain = both(False, np.arange(40))
    assert both(False, order) == pytest.approx(plain, abs=1e-7)
    assert both(True, np.arange(40)) == pytest.approx(plain, abs=1e-7)
