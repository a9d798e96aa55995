"""The test of the first place against binomial chances written out."""

from math import comb

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.order_effects import position_preference


@given(st.integers(0, 25), st.integers(0, 25))
def test_the_test_of_the_first_place_adds_up_what_is_no_likelier(first: int, second: int) -> None:
    assume(first + second)
    n = first + second
    chance = [comb(n, k) / 2**n for k in range(n + 1)]
    found = position_preference([Vote.A] * first + [Vote.B] * second)
    assert found.p_value == pytest.approx(sum(p for p in chance if p <= chance[first] * (1 + 1e-9)))
