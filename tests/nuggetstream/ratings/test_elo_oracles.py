"""Elo against evalica."""

import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.elo import Games, tournaments
from tests.nuggetstream.ratings.drawn import NAMES
from tests.nuggetstream.ratings.other_libraries import BATTLES, Battles, columns


@given(BATTLES, st.integers(0, 1000), st.sampled_from([4.0, 16.0, 32.0]))
@settings(max_examples=40, deadline=None)
def test_evalica_plays_the_same_elo_tournament(battles: Battles, seed: int, k: float) -> None:
    score = {Vote.A: 1.0, Vote.B: 0.0, Vote.TIE: 0.5}
    a, b = ([NAMES.index(battle[side]) for battle in battles] for side in (0, 1))
    games = Games(tuple(NAMES), np.array(a), np.array(b), np.array([score[vote] for *_, vote in battles]))
    order = np.random.default_rng(seed).permuted(np.arange(len(battles))[None], axis=1)[0]
    played = columns([battles[game] for game in order])
    theirs = evalica.elo(*played, initial=1000, k=k).scores[list(NAMES)]
    ours = tournaments(games, np.random.default_rng(seed), rounds=1, k=k)
    assert ours.rating == pytest.approx(theirs.to_numpy(), abs=1e-6)
