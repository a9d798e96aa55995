"""Nugget scores: the published cases by hand, what cannot be scored, and properties of any list."""

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Assignment, Importance, Nugget, Support
from nuggetstream.nuggets.scores import (
    TIE_THRESHOLD_WITH_URLS,
    TIE_THRESHOLD_WITHOUT_URLS,
    NuggetScores,
    Unscorable,
    labels_of,
    nugget_margin,
    preference,
    score_answer,
    tie_threshold,
)
from tests import samples

FULL, PART, NONE = Support.SUPPORT, Support.PARTIAL_SUPPORT, Support.NOT_SUPPORT
LABELLED = st.lists(st.tuples(st.sampled_from(Importance), st.sampled_from(Support)), min_size=1, max_size=30)
NAN = float("nan")


def score(*entries: tuple[Importance, Support]) -> NuggetScores:
    nuggets = [Nugget(str(i), "fact", importance) for i, (importance, _) in enumerate(entries)]
    return score_answer(nuggets, {str(i): label for i, (_, label) in enumerate(entries)})


def vital(*labels: Support) -> list[tuple[Importance, Support]]:
    return [(Importance.VITAL, label) for label in labels]


def okay(*labels: Support) -> list[tuple[Importance, Support]]:
    return [(Importance.OKAY, label) for label in labels]


def test_one_vital_stated_and_one_okay_half_stated() -> None:
    scores = score(*vital(FULL), *okay(PART))
    assert (scores.strict_vital, scores.strict_all, scores.vital, scores.all_score) == (1.0, 0.5, 1.0, 0.75)
    assert scores.weighted == pytest.approx((1 + 0.5 * 0.5) / 1.5)
    assert scores.strict_weighted == pytest.approx(1 / 1.5)


def test_two_vital_and_two_okay_worked_by_hand() -> None:
    scores = score(*vital(PART, NONE), *okay(FULL, NONE))
    assert scores == NuggetScores(
        strict_vital=0.0,
        strict_all=0.25,
        vital=0.25,
        all_score=0.375,
        weighted=(0.5 + 0.5 * 1) / 3,
        strict_weighted=0.5 / 3,
    )


def test_a_list_without_a_vital_nugget_has_no_vital_score_and_not_zero() -> None:
    scores = score(*okay(FULL, NONE))
    assert (scores.vital, scores.strict_vital) == (None, None)
    assert (scores.all_score, scores.weighted) == (0.5, 0.5)


def test_a_missing_label_is_not_a_zero() -> None:
    nuggets = [Nugget("x", "fact", Importance.VITAL), Nugget("y", "fact", Importance.VITAL)]
    with pytest.raises(Unscorable, match="1 of 2 nuggets have no label, such as 'y'"):
        score_answer(nuggets, {"x": FULL})


def test_no_nuggets_are_no_score() -> None:
    with pytest.raises(Unscorable, match="no nuggets"):
        score_answer([], {})


@given(LABELLED)
def test_every_score_lies_between_nothing_and_everything(entries: list[tuple[Importance, Support]]) -> None:
    assert all(0 <= value <= 1 for value in astuple(score(*entries)) if value is not None)


@given(LABELLED)
def test_the_strict_form_never_gives_more(entries: list[tuple[Importance, Support]]) -> None:
    scores = score(*entries)
    assert scores.strict_all <= scores.all_score
    assert scores.strict_weighted <= scores.weighted
    assert (scores.strict_vital is None) == (scores.vital is None)
    assert scores.vital is None or scores.strict_vital is None or scores.strict_vital <= scores.vital


@given(LABELLED.flatmap(lambda entries: st.tuples(st.just(entries), st.permutations(entries))))
def test_the_order_of_nuggets_never_matters(
    both: tuple[list[tuple[Importance, Support]], list[tuple[Importance, Support]]],
) -> None:
    first, again = both
    assert score(*first) == score(*again)


@given(LABELLED, st.data())
def test_stating_more_never_scores_less(
    entries: list[tuple[Importance, Support]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    better = [*entries[:place], (entries[place][0], FULL), *entries[place + 1 :]]
    for low, high in zip(astuple(score(*entries)), astuple(score(*better)), strict=True):
        assert low is None or low <= high


@pytest.mark.parametrize(
    ("threshold", "stated", "of"),
    [(TIE_THRESHOLD_WITH_URLS, 7, 100), (TIE_THRESHOLD_WITHOUT_URLS, 1, 10), (0.10, 3, 30)],
)
def test_a_difference_of_exactly_the_threshold_is_a_tie(threshold: float, stated: int, of: int) -> None:
    for base in range(of - stated):  # wherever on the scale, whatever floating point makes of it
        assert preference((base + stated) / of, base / of, threshold) is Vote.TIE
        assert preference(base / of, (base + stated) / of, threshold) is Vote.TIE
        assert preference((base + stated + 1) / of, base / of, threshold) is Vote.A
        assert preference(base / of, (base + stated + 1) / of, threshold) is Vote.B


def test_labels_of_one_side_are_not_those_of_the_other() -> None:
    assignments = [Assignment("x", Side.A, FULL), Assignment("x", Side.B, NONE)]
    assert labels_of(assignments, Side.A) == {"x": FULL}
    assert labels_of(assignments, Side.B) == {"x": NONE}


def test_the_margin_is_what_a_states_more_than_b() -> None:
    event = samples.assigned(1, 3, of=4)
    assert nugget_margin(event.nugget_list.nuggets, event.assignment_set.assignments) == -0.5


def test_answers_with_urls_are_told_apart_more_finely() -> None:
    assert tie_threshold(samples.battle(urls_b=["https://example.org"])) == 0.07
    assert tie_threshold(samples.battle()) == 0.10


@pytest.mark.parametrize(("a", "b", "threshold"), [(NAN, 0, 0.1), (0, NAN, 0.1), (1, 0, NAN), (1, 0, -0.1)])
def test_a_missing_score_is_no_preference_for_the_other_answer(a: float, b: float, threshold: float) -> None:
    with pytest.raises(Unscorable, match="cannot be compared"):
        preference(a, b, threshold)
