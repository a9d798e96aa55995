"""Preferences, their probabilities and their thresholds mirror with the sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.nuggets.preference import (
    preference_probability,
    sweep,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import CREDIT, labels_of, nugget_margin, preference
from tests import samples

LABELS = (Vote.A, Vote.TIE, Vote.B)
MARGINS = st.lists(
    st.tuples(st.integers(-20, 20).map(lambda n: n / 20), st.sampled_from(LABELS)), min_size=1, max_size=20
)


@given(MARGINS, st.randoms(), st.integers(0, 20).map(lambda n: n / 20))
def test_a_sweep_does_not_care_about_order_and_mirrors_with_the_sides(
    battles: list[tuple[float, Vote]], chance: object, threshold: float
) -> None:
    def at(rows: list[tuple[float, Vote]]) -> np.ndarray:
        return sweep([m for m, _ in rows], [v for _, v in rows], [threshold])[0].confusion

    assert (at(chance.sample(battles, len(battles))) == at(battles)).all()
    turned = [(-margin, vote.swapped) for margin, vote in battles]
    assert (at(turned) == at(battles)[::-1, ::-1]).all()
    assert (at(battles + battles) == 2 * at(battles)).all()
    if len({vote for _, vote in battles}) > 1:
        best, again = (
            threshold_by_kappa([m for m, _ in rows], [v for _, v in rows]) for rows in (battles, turned)
        )
        assert best.threshold == again.threshold
        assert best.kappa == pytest.approx(again.kappa, abs=1e-9)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(-5, 5))
def test_a_preference_mirrors_and_moving_both_scores_changes_nothing(
    a: float, b: float, threshold: float, by: float
) -> None:
    winner = preference(a, b, threshold)
    assert preference(b, a, threshold) is winner.swapped
    if abs(abs(a - b) - threshold) > 1e-6:
        assert preference(a + by, b + by, threshold) is winner


@given(st.integers(2, 12), st.data())
@settings(max_examples=30, deadline=None)
def test_the_same_seed_draws_the_same_nuggets_and_their_order_does_not_matter_to_the_margin(
    count: int, data: st.DataObject
) -> None:
    stated = st.integers(0, count)
    event = samples.assigned(data.draw(stated), data.draw(stated), count)
    nuggets, assignments = event.nugget_list.nuggets, event.assignment_set.assignments
    credits_a, credits_b = (
        np.array([CREDIT[label] for label in labels_of(assignments, side).values()]) for side in Side
    )
    first, again = (
        preference_probability(credits_a, credits_b, 0.1, np.random.default_rng(5), 200) for _ in range(2)
    )
    assert first == again
    assert first.a + first.tie + first.b == pytest.approx(1)
    backwards = nugget_margin(nuggets[::-1], assignments[::-1])
    assert backwards == nugget_margin(nuggets, assignments) == pytest.approx((credits_a - credits_b).mean())
