"""Boards against evalica."""

import evalica
import numpy as np
import pytest

from tests.nuggetstream.ratings.drawn import NAMES, tally_of
from tests.nuggetstream.ratings.other_libraries import CIRCLE, THEIRS, columns
from tests.voted import ranked


def test_a_board_stands_where_evalica_puts_it() -> None:
    rng = np.random.default_rng(12)
    battles = CIRCLE + [
        (NAMES[i], NAMES[(i + step) % 4], list(THEIRS)[kind])
        for i, step, kind in rng.integers((0, 1, 0), (4, 4, 3), (300, 3))
    ]
    theirs = evalica.bradley_terry(*columns(battles), tolerance=1e-13, limit=100_000).scores
    elo = 400 * np.log10(theirs / np.exp(np.log(theirs).mean())) + 1000
    board = ranked(tally_of(battles), seed=0, resamples=50)
    assert {s.system: s.rating for s in board.standings} == pytest.approx(elo.to_dict(), abs=1e-4)
    assert [s.system for s in board.standings] == list(elo.sort_values(ascending=False).index)
