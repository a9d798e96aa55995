"""Elo tournaments depend neither on names nor on who is named first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.elo import (
    Arithmetic,
    Games,
    tournaments,
)
from tests.nuggetstream.ratings.drawn import NAMES, SEEDS, few, seeded


@given(st.integers(0, 1000), st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_float_ratings_keep_their_sum(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, count)
    games = Games(tuple("xyz"), a, (a + rng.integers(1, 3, count)) % 3, rng.choice([0, 0.5, 1], count))
    assert tournaments(games, rng, rounds=3).rating.sum() == pytest.approx(3000)


@pytest.mark.parametrize("arithmetic", Arithmetic)
@given(SEEDS)
@few
def test_renaming_players_or_turning_the_board_renames_an_elo_tournament(
    arithmetic: Arithmetic, seed: int
) -> None:
    rng = seeded(seed)
    a = rng.integers(0, 4, 30)
    b, score, name = (a + rng.integers(1, 4, 30)) % 4, rng.choice([0, 0.5, 1], 30), rng.permutation(4)
    plain, renamed, turned = (
        tournaments(Games(tuple(NAMES), *game), seeded(seed), rounds=5, arithmetic=arithmetic)
        for game in ((a, b, score), (name[a], name[b], score), (b, a, 1 - score))
    )
    assert renamed.rating[name] == pytest.approx(plain.rating)
    assert turned.rating == pytest.approx(plain.rating)
    assert renamed.games[name].tolist() == plain.games.tolist()
    assert (plain.deviation >= 0).all()
