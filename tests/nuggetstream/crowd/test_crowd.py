"""Crowd votes: MACE, competence, what can be told apart, and grades with ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import digamma

from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.competence import kept_votes
from nuggetstream.crowd.differentiability import is_decided, split_by_differentiability
from nuggetstream.crowd.grades import Comparison, grades, merits, same_order
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Vote

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def crowd(
    seed: int, items: int = 120, honest: int = 6, spammers: int = 3
) -> tuple[Ballots, dict[object, Vote]]:
    """Honest workers are right nine times in ten; spammers mostly say A."""
    rng = np.random.default_rng(seed)
    truth: dict[object, Vote] = {f"item{i}": (A, TIE, B)[rng.integers(3)] for i in range(items)}
    votes = []
    for item, label in truth.items():
        for worker in range(honest + spammers):
            guess = (A, TIE, B)[rng.choice(3, p=[0.8, 0.1, 0.1] if worker >= honest else [1 / 3] * 3)]
            votes.append((item, worker, label if worker < honest and rng.random() < 0.9 else guess))
    return Ballots.collect(votes, (A, TIE, B)), truth


def test_mace_finds_the_spammers_and_the_labels() -> None:
    ballots, truth = crowd(1)
    found = mace(ballots, np.random.default_rng(0), restarts=5)
    assert np.mean([found.gold[item] is label for item, label in truth.items()]) > 0.97
    spam = found.spam_of
    assert (
        max(spam[worker] for worker in range(6)) < 0.35 < 0.65 < min(spam[worker] for worker in range(6, 9))
    )
    assert found.posterior.sum(axis=1) == pytest.approx(1)


def test_mace_outdoes_a_majority_that_spammers_hold() -> None:
    ballots, truth = crowd(2, items=200, honest=3, spammers=4)
    learned = mace(ballots, np.random.default_rng(0), restarts=5).gold
    counted = ballots.counts.argmax(axis=1)
    majority_right = np.mean(
        [(A, TIE, B)[k] is truth[i] for i, k in zip(ballots.items, counted, strict=True)]
    )
    assert np.mean([learned[item] is label for item, label in truth.items()]) > majority_right + 0.1


def test_the_same_seed_gives_the_same_labels() -> None:
    ballots, _ = crowd(3, items=30)
    first, again = (mace(ballots, np.random.default_rng(9), restarts=3) for _ in range(2))
    assert np.array_equal(first.posterior, again.posterior)
    assert np.array_equal(first.spam, again.spam)


def test_one_climb_equals_em_written_out_vote_by_vote() -> None:
    ballots, _ = crowd(4, items=12, honest=2, spammers=1)
    found = mace(ballots, np.random.default_rng(5), restarts=1, iterations=4)
    rng, k, workers = np.random.default_rng(5), 3, len(ballots.workers)
    way, habit = rng.random((workers, 2)), rng.random((workers, k))
    way, habit = way / way.sum(1, keepdims=True), habit / habit.sum(1, keepdims=True)
    votes = list(zip(ballots.item, ballots.worker, ballots.label, strict=True))
    for step in range(5):
        likelihood = np.full((len(ballots.items), k), 1 / k)
        for i, w, vote in votes:
            likelihood[i] *= way[w, 0] * habit[w, vote] + way[w, 1] * (np.arange(k) == vote)
        posterior = likelihood / likelihood.sum(1, keepdims=True)
        if step == 4:
            break
        spammed, knew = np.zeros((workers, k)), np.zeros(workers)
        for i, w, vote in votes:
            know = posterior[i, vote] * way[w, 1] / (way[w, 1] + way[w, 0] * habit[w, vote])
            knew[w] += know
            spammed[w, vote] += 1 - know
        ways, habits = np.stack([spammed.sum(1), knew], 1) + 0.5 + 0.1 / 3, spammed + 10 + 0.1 / 3
        way = np.exp(digamma(ways) - digamma(ways.sum(1, keepdims=True)))
        habit = np.exp(digamma(habits) - digamma(habits.sum(1, keepdims=True)))
    assert found.posterior == pytest.approx(posterior)
    assert found.log_likelihood[0] == pytest.approx(np.log(likelihood.sum(1)).sum())
    assert found.spam == pytest.approx(way[:, 0] / way.sum(1))


def test_votes_that_cannot_be_counted_are_refused() -> None:
    with pytest.raises(ValueError, match="twice on one item"):
        Ballots.collect([("i", "w", A), ("i", "w", B)], (A, B))
    with pytest.raises(ValueError, match="no labels here"):
        Ballots.collect([("i", "w", TIE)], (A, B))
    with pytest.raises(ValueError, match="there must be votes"):
        Ballots.collect([], (A, B))
    for labels in ((A,), (A, A)):
        with pytest.raises(ValueError, match="at least two labels"):
            Ballots.collect([("i", "w", A)], labels)
    with pytest.raises(ValueError, match="at least one restart"):
        mace(crowd(1, items=2)[0], np.random.default_rng(0), restarts=0)
    with pytest.raises(ValueError, match="one iteration"):
        mace(crowd(1, items=2)[0], np.random.default_rng(0), iterations=0)


def test_votes_are_counted_by_item_and_label() -> None:
    votes = [("i", "v", A), ("i", "w", A), ("j", "w", B), ("i", "u", B)]
    assert Ballots.collect(votes, (A, TIE, B)).counts.tolist() == [[2, 0, 1], [0, 0, 1]]


def test_a_spam_probability_exactly_at_the_limit_is_kept() -> None:
    assert kept_votes([A, B, TIE], [0.7, 0.7000001, 0.0]) == [A, TIE]
    assert kept_votes([A, B, TIE], [0.0, 1.0, 0.5], limit=1.0) == [A, B, TIE]
    assert kept_votes([A, B], [0.0, 0.1], limit=0.0) == [A]
    with pytest.raises(ValueError, match="probability"):
        kept_votes([A], [float("nan")])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        kept_votes([A, B], [0.1])


def test_a_majority_of_ties_decides_a_dimension_too() -> None:
    assert is_decided([TIE, TIE, TIE, A, B])
    assert not is_decided([A, A, B, B, TIE])
    assert not is_decided([])


def test_five_decided_dimensions_of_seven_make_a_pair_differentiable() -> None:
    decided, divided = (A, A, A, B, TIE), (A, A, B, B, TIE)
    pairs = {n: {f"d{i}": decided if i < n else divided for i in range(7)} for n in (4, 5)}
    split = split_by_differentiability(pairs)
    assert (split.differentiable, split.minimally_differentiable) == ((5,), (4,))
    assert split_by_differentiability({"x": {f"d{i}": decided for i in range(5)}}).differentiable == ("x",)
    with pytest.raises(ValueError, match="4 dimensions"):
        split_by_differentiability({"x": {f"d{i}": decided for i in range(4)}})


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
    found = merits([Comparison(0, 1), Comparison(0, 1)], 3)
    assert np.isfinite(found).all()
    assert found[0] > 1 > found[1]
    assert found[2] == pytest.approx(1)


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
    for parameter in ("tie_margin", "dummy_weight"):
        with pytest.raises(ValueError, match="above 0"):
            merits([], 2, **{parameter: 0})
    with pytest.raises(ValueError, match="2 merits for 1"):
        grades(["x"], np.zeros(2))
