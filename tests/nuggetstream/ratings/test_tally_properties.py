"""The shares of a pair add up to one."""

import numpy as np
import pytest
from hypothesis import given

from nuggetstream.ratings.fitting.tally import connectivity
from tests.nuggetstream.ratings.drawn import BATTLES, NAMES, Battle, few, tally_of


@given(BATTLES)
@few
def test_shares_of_a_pair_add_up_to_one(battles: list[Battle]) -> None:
    tally = tally_of(battles)
    shares = tally.win_matrix()
    met = ~np.isnan(shares)
    assert ((shares[met] >= 0) & (shares[met] <= 1)).all()
    assert (shares + shares.T)[met] == pytest.approx(1)
    assert connectivity(tally).groups == (tuple(NAMES),)
