"""Pairs that people can tell apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.crowd.differentiability import Split, is_decided, split_by_differentiability
from nuggetstream.domain.battle import Vote

A, TIE, B = Vote.A, Vote.TIE, Vote.B


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


def test_no_items_are_split_into_nothing() -> None:
    assert split_by_differentiability({}) == Split((), ())


@given(st.lists(st.sampled_from(Vote), max_size=9), st.randoms())
def test_whether_votes_decide_does_not_depend_on_who_voted_first(votes: list[Vote], chance: object) -> None:
    assert is_decided(chance.sample(votes, len(votes))) is is_decided(votes)
    assert is_decided([vote.swapped for vote in votes]) is is_decided(votes)
