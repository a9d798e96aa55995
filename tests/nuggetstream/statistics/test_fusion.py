"""Reciprocal rank fusion: by hand, and of nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.statistics.fusion import reciprocal_rank_fusion


def test_fused_scores_worked_by_hand() -> None:
    fused = dict(reciprocal_rank_fusion([["x", "y"], ["y"]], constant=1))
    assert fused == {"x": pytest.approx(1 / 2), "y": pytest.approx(1 / 3 + 1 / 2)}


def test_equals_stay_in_the_order_they_appeared() -> None:
    assert [key for key, _ in reciprocal_rank_fusion([["x"], ["y"]])] == ["x", "y"]


def test_keys_with_the_same_ranks_in_another_order_have_equal_scores() -> None:
    """Added up one by one, 1/61 + 1/62 + 1/67 and 1/61 + 1/67 + 1/62 differ."""
    first, second, seventh = ["{}"], ["a", "{}"], [*"abcdef", "{}"]

    def of(key: str, *rankings: list[str]) -> list[list[str]]:
        return [[name.format(key) for name in ranking] for ranking in rankings]

    rankings = [*of("x", first, second, seventh), *of("y", first, seventh, second)]
    fused = dict(reciprocal_rank_fusion(rankings))
    assert fused["x"] == fused["y"]


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_a_key_that_both_rankings_put_first_is_first(one: list[str], other: list[str]) -> None:
    fused = reciprocal_rank_fusion([["!", *one], ["!", *other]])
    assert fused[0][0] == "!"
    assert math.isclose(fused[0][1], 2 / 61)
    assert sorted(key for key, _ in fused) == ["!", *"abcdef"]


def test_a_key_that_repeats_counts_once_at_its_best_place() -> None:
    assert reciprocal_rank_fusion([["x", "x", "y"]]) == reciprocal_rank_fusion([["x", "y"]])


def test_rankings_of_nothing_fuse_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []
    for constant in (-1, float("nan")):
        with pytest.raises(ValueError, match="at least 0"):
            reciprocal_rank_fusion([["x"]], constant)
