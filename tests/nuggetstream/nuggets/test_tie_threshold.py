"""A difference of exactly the threshold is a tie everywhere, and what else a preference must keep to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.account import account_of
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.nuggets.explanation import explain
from nuggetstream.nuggets.preference import (
    preference_probability,
    sweep,
    threshold_by_equal_split,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import CREDIT, labels_of, nugget_margin, preference, tie_threshold
from nuggetstream.statistics.agreement import KappaWeights, agreement, confusion_of, weighted_kappa
from nuggetstream.statistics.order_effects import swapped
from services.rater.stage import outcome_of
from tests import samples

A, TIE, B = Vote.A, Vote.TIE, Vote.B
VOTES = st.lists(st.tuples(st.sampled_from(Vote), st.sampled_from(Vote)), min_size=1, max_size=25)


@st.composite
def at_the_threshold(draw: st.DrawFn) -> tuple[int, int, int, bool]:
    """Counts of stated nuggets whose shares differ by exactly 0.07 with URLs, 0.10 without."""
    urls = draw(st.booleans())
    of, gap = (100, 7) if urls else draw(st.sampled_from([(10, 1), (20, 2), (30, 3), (70, 7)]))
    less = draw(st.integers(0, of - gap))
    return less, less + gap, of, urls


@given(at_the_threshold(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_exactly_the_threshold_is_a_tie_in_every_place_that_decides(
    counts: tuple[int, int, int, bool], turn: bool
) -> None:
    less, more, of, urls = counts
    fought = samples.battle(urls_b=["https://example.org"] if urls else [])
    event = samples.assigned(more, less, of, fought) if turn else samples.assigned(less, more, of, fought)
    nuggets, assignments = event.nugget_list.nuggets, event.assignment_set.assignments
    margin, threshold = nugget_margin(nuggets, assignments), tie_threshold(fought)
    assert abs(margin) == pytest.approx(threshold)
    assert preference(margin, 0.0, threshold) is TIE
    assert preference(0.0, margin, threshold) is TIE
    assert outcome_of(event, samples.NOON).winner is TIE
    explanation = explain(account_of(fought, [event]))
    assert explanation.preference is TIE
    assert "see a tie" in explanation.lines[0]
    (point,) = sweep([margin], [TIE], [threshold])
    assert point.tie_share == 1
    # Called a tie by people, the battle wants exactly its own margin as threshold. A second one, decided
    # and far off, gives kappa an answer.
    assert threshold_by_kappa([margin, 1.0], [TIE, A]).threshold == pytest.approx(threshold)
    even = threshold_by_equal_split([margin, 1.0, -1.0], [TIE] * 3)
    assert (even.threshold, even.tie_share) == pytest.approx((threshold, 1 / 3))


@given(at_the_threshold())
@settings(max_examples=20, deadline=None)
def test_one_nugget_more_is_no_tie_in_any_of_them(counts: tuple[int, int, int, bool]) -> None:
    less, more, of, urls = counts
    if more == of:
        return
    fought = samples.battle(urls_b=["https://example.org"] if urls else [])
    event = samples.assigned(more + 1, less, of, fought)
    margin = nugget_margin(event.nugget_list.nuggets, event.assignment_set.assignments)
    assert preference(margin, 0.0, tie_threshold(fought)) is A
    assert outcome_of(event, samples.NOON).winner is A
    assert explain(account_of(fought, [event])).preference is A
    assert sweep([margin], [A], [tie_threshold(fought)])[0].tie_share == 0


def test_a_resample_that_lands_on_the_threshold_is_a_tie() -> None:
    """Ten nuggets, one of them for A: each draw differs by a whole number of tenths."""
    credit = np.eye(10)[0]
    found = preference_probability(credit, np.zeros(10), 0.1, np.random.default_rng(0), 4000)
    never_or_once = 0.9**10 + 10 * 0.1 * 0.9**9
    assert found.tie == pytest.approx(never_or_once, abs=0.03)
    assert found.b == 0


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(-5, 5))
def test_a_preference_mirrors_and_moving_both_scores_changes_nothing(
    a: float, b: float, threshold: float, by: float
) -> None:
    winner = preference(a, b, threshold)
    assert preference(b, a, threshold) is swapped(winner)
    if abs(abs(a - b) - threshold) > 1e-6:
        assert preference(a + by, b + by, threshold) is winner


@given(VOTES, st.randoms())
@settings(max_examples=40, deadline=None)
def test_agreement_does_not_care_about_sides_or_names_of_queries(
    votes: list[tuple[Vote, Vote]], chance: object
) -> None:
    said, meant = [s for s, _ in votes], [m for _, m in votes]
    queries = [str(chance.randrange(4)) for _ in votes]

    def of(one: list[Vote], other: list[Vote], names: list[str]) -> object:
        return agreement(one, other, names, np.random.default_rng(3), 50)

    plain = of(said, meant, queries)
    assert of([swapped(v) for v in said], [swapped(v) for v in meant], queries) == plain
    assert of(said, meant, [f"query {name}" for name in queries]) == plain
    assert plain.share is None or 0 <= plain.low <= plain.high <= 1


@pytest.mark.parametrize("weights", KappaWeights)
@given(VOTES)
def test_kappa_stays_within_its_range_and_does_not_care_who_is_named_first(
    weights: KappaWeights, votes: list[tuple[Vote, Vote]]
) -> None:
    first, second = [a for a, _ in votes], [b for _, b in votes]
    found = weighted_kappa(confusion_of(first, second), weights)
    assert found is None or -1 - 1e-12 <= found <= 1
    again = weighted_kappa(confusion_of(second, first), weights)
    assert again == (None if found is None else pytest.approx(found))
    assert weighted_kappa(confusion_of(first, first), weights) in (None, pytest.approx(1))


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
