"""Counts of battles against those of evalica."""

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from tests.nuggetstream.ratings.drawn import NAMES, tally_of
from tests.nuggetstream.ratings.other_libraries import BATTLES, Battles, columns


@given(BATTLES)
@settings(max_examples=40, deadline=None)
def test_evalica_counts_the_same_wins_and_ties(battles: Battles) -> None:
    a, b, winners = columns(battles)
    index = pd.Index(list(NAMES))
    theirs = evalica.matrices(index.get_indexer(a).tolist(), index.get_indexer(b).tolist(), winners, index)
    ours = tally_of(battles)
    assert (ours.wins == theirs.win_matrix).all()
    assert (ours.ties == theirs.tie_matrix).all()
    rates = evalica.average_win_rate(a, b, winners).scores[list(NAMES)]
    assert np.nanmean(ours.win_matrix(), axis=1) == pytest.approx(rates.to_numpy())
