"""A preference for a position mirrors with the sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.order_effects import position_preference


@given(st.lists(st.sampled_from(Vote), min_size=1, max_size=25))
def test_a_preference_for_the_first_place_is_one_against_the_second(votes: list[Vote]) -> None:
    here, there = position_preference(votes), position_preference([vote.swapped for vote in votes])
    assert (here.first, here.second, here.ties) == (there.second, there.first, there.ties)
    assert here.p_value == there.p_value
    if here.share is not None:
        assert here.share + there.share == pytest.approx(1)
