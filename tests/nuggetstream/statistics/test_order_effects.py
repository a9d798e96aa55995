"""What it does to votes who is shown first."""

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.order_effects import order_effect, position_preference

A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD


def test_position_preference_by_hand() -> None:
    found = position_preference([A, A, A, TIE, BAD])
    assert (found.first, found.second, found.ties, found.share) == (3, 0, 2, 1.0)
    assert found.p_value == pytest.approx(0.25)
    assert position_preference([TIE]).share is None
    nothing = position_preference([])
    assert (nothing.share, nothing.p_value) == (None, None)


def test_swapping_twice_is_the_same_vote() -> None:
    assert [vote.swapped for vote in (A, TIE, B, BAD)] == [B, TIE, A, BAD]


def test_an_order_effect_is_the_largest_gap_and_has_none_where_a_group_has_no_answer() -> None:
    def share(units: object) -> float | None:
        assert isinstance(units, list)
        return sum(units) / len(units) if units else None

    found = order_effect({"x": [1, 0], "y": [1, 1]}, [1, 0, 1, 1], share)
    assert (found.pooled, found.delta) == (0.75, 0.25)
    for turned in (0, 1):  # the largest gap is that of x, be x above or below
        uneven = {"x": [1 - turned], "y": [turned, turned, 1 - turned]}
        assert order_effect(uneven, [1, turned, turned, 0], share).delta == pytest.approx(0.75)
    assert order_effect({"x": [1], "y": []}, [1], share).delta is None
    assert order_effect({}, [1], share).delta is None
