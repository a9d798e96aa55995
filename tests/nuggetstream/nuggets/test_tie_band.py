"""The tie band: found where there is one, and not flattered by having been chosen."""

import random

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.nuggets.scores import preference
from nuggetstream.nuggets.tie_band import tie_band

LEADS = [place / 50 - 1 for place in range(101)]


def test_the_band_that_people_use_is_found() -> None:
    human = [preference(lead, 0.0, 0.3) for lead in LEADS]
    decided = [preference(lead, 0.0, 0.0) for lead in LEADS]
    found = tie_band(LEADS, decided, human)
    assert found is not None
    assert found.band == pytest.approx(0.3)
    assert found.battles == 101
    assert found.kappa is not None
    assert found.kappa_decided is not None
    assert 1.0 >= found.kappa > found.kappa_decided


def test_votes_by_chance_give_a_band_that_agrees_with_nobody() -> None:
    draw = random.Random(7)
    human = [draw.choice((Vote.A, Vote.TIE, Vote.B)) for _ in LEADS]
    found = tie_band(LEADS, human, human)
    assert found is not None
    assert found.kappa is not None
    assert abs(found.kappa) < 0.3
    assert found.kappa_decided == pytest.approx(1.0)


def test_without_battles_there_is_no_band() -> None:
    assert tie_band([], [], []) is None
    assert tie_band([0.3], [Vote.A], [Vote.BOTH_BAD]) is None
    with pytest.raises(ValueError, match="outside"):
        tie_band([2.0] * 6, [Vote.A] * 6, [Vote.A, Vote.B] * 3)
