"""Merits and grades from comparisons with ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from nuggetstream.crowd.grades import Comparison, grades, merits, same_order

COMPARISONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()).filter(lambda c: c[0] != c[1]), max_size=12
).map(lambda rows: [Comparison(*row) for row in rows])


@given(COMPARISONS)
@settings(max_examples=25, deadline=None)
def test_merits_maximise_the_published_likelihood(comparisons: list[Comparison]) -> None:
    t, weight = 0.05, 0.2

    def beats(i: float, j: float, margin: float = t) -> float:
        return float(np.exp(i) / (np.exp(i) + np.exp(j + margin)))

    def ties(i: float, j: float) -> float:
        below = (np.exp(i) + np.exp(j + t)) * (np.exp(i + t) + np.exp(j))
        return float(np.exp(i + j) * (np.exp(2 * t) - 1) / below)

    def cost(m: np.ndarray) -> float:
        total = sum(np.log((ties if c.tie else beats)(m[c.winner], m[c.loser])) for c in comparisons)
        dummy = sum(np.log(beats(x, 1, 0)) + np.log(beats(1, x, 0)) for x in m)
        return -float(total + weight * dummy)

    ours = merits(comparisons, 4)
    oracle = minimize(cost, np.ones(4), method="BFGS").x
    assert cost(ours) <= cost(oracle) + 1e-9
    assert ours == pytest.approx(oracle, abs=2e-3)


@given(COMPARISONS, st.permutations(range(4)), st.randoms())
@settings(max_examples=25, deadline=None)
def test_neither_the_names_nor_the_order_of_comparisons_matters(
    comparisons: list[Comparison], order: list[int], random: object
) -> None:
    renamed = [Comparison(order[c.winner], order[c.loser], c.tie) for c in reversed(comparisons)]
    assert merits(renamed, 4)[order] == pytest.approx(merits(comparisons, 4), abs=1e-6)


def test_an_undefeated_answer_has_a_finite_merit_and_one_never_compared_that_of_the_dummy() -> None:
    merit = merits([Comparison(0, 1), Comparison(0, 1)], 3)
    assert np.isfinite(merit).all()
    assert merit[0] > 1 > merit[1]
    assert merit[2] == pytest.approx(1)


def test_a_tie_counts_the_same_whichever_side_is_named_first() -> None:
    assert merits([Comparison(0, 1, tie=True)], 2) == pytest.approx(merits([Comparison(1, 0, tie=True)], 2))


def test_equal_merits_are_graded_by_who_beat_whom() -> None:
    merit = np.array([1.0, 1.0 + 1e-9, 3.0])
    assert grades("xyz", merit, [Comparison(0, 1)]) == {"y": 1, "x": 2, "z": 3}
    assert grades("xyz", merit, [Comparison(1, 0)]) == {"x": 1, "y": 2, "z": 3}
    assert grades("xyz", merit, [Comparison(0, 1, tie=True)]) == {"x": 1, "y": 2, "z": 3}


def test_the_same_order_allows_equal_merits_in_any_order_and_nothing_else() -> None:
    merit = {"x": 0.0, "y": 1.0, "z": 1.0}
    assert same_order({"x": 1, "y": 2, "z": 3}, merit)
    assert same_order({"z": 2, "y": 3, "x": 1}, merit)
    assert not same_order({"y": 1, "x": 2, "z": 3}, merit)


def test_grades_follow_merits_and_only_what_equals_said_of_each_other() -> None:
    assert grades("xyz", np.array([2.0, 1.0, 0.0]), [Comparison(2, 0)] * 3) == {"z": 1, "y": 2, "x": 3}
    against_others = [Comparison(0, 2)] * 3
    assert grades("xyz", np.array([1.0, 1.0, 0.0]), [Comparison(1, 0), *against_others]) == {
        "z": 1,
        "x": 2,
        "y": 3,
    }
    assert grades("xyz", np.array([1.0, 1.0, 0.0]), [Comparison(0, 1), *against_others])["x"] == 3
    # three equals: x won once, y won twice and lost twice, z won twice and lost three times
    fought = [Comparison(0, 2), *[Comparison(1, 2), Comparison(2, 1)] * 2]
    assert grades("xyz", np.ones(3), fought) == {"z": 1, "y": 2, "x": 3}


IMPOSSIBLE = [(0, 0), (0, 5), (0, 2), (2, 0), (-1, 0), (0, -1)]


@pytest.mark.parametrize("bad", [Comparison(*pair) for pair in IMPOSSIBLE])
def test_comparing_nothing_is_refused(bad: Comparison) -> None:
    with pytest.raises(ValueError, match="compares no two"):
        merits([bad], 2)
    for parameter in ("tie", "regularisation"):
        with pytest.raises(ValueError, match="above 0"):
            merits([], 2, **{parameter: 0})
    with pytest.raises(ValueError, match="2 merits for 1"):
        grades(["x"], np.zeros(2))


def test_a_missing_merit_is_not_the_best() -> None:
    with pytest.raises(ValueError, match="missing or not finite"):
        grades(["x", "y"], np.array([float("nan"), 1.0]))
    with pytest.raises(ValueError, match="there must be an item"):
        merits([], 0)
    assert merits([], 2) == pytest.approx(np.ones(2))
    assert grades([], np.array([])) == {}
    assert same_order({}, {})
