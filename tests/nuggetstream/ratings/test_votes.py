"""Sources of votes with weights."""

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import mixed
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.xyz import HALF
from tests.voted import ranked

FOUR = Tally.count([("x", "y", Vote.A, 1), ("x", "y", Vote.B, 1), ("x", "y", Vote.TIE, 2)])


def test_a_mixed_board_shows_what_each_source_weighs() -> None:
    people = Tally.count([("x", "y", Vote.A, 30), ("x", "y", Vote.B, 10)])
    judge = Tally.count([("x", "y", Vote.B, 50), ("x", "y", Vote.A, 50), ("y", "z", Vote.TIE, 20)])
    board = ranked(mixed([("human", people, 1.0), ("judge", judge, 0.5)]), seed=0)
    assert [(s.source, s.weight, s.battles) for s in board.shares] == [("human", 1, 40), ("judge", 0.5, 120)]
    assert [s.share for s in board.shares] == pytest.approx([0.4, 0.6])
    assert {s.system: s.battles for s in board.standings} == pytest.approx({"x": 90, "y": 100, "z": 10})


def test_one_source_of_weight_one_is_the_tally_itself() -> None:
    assert (mixed([("human", HALF, 1.0)]).tally.wins == HALF.wins).all()
    assert ranked(mixed([("human", HALF, 1.0)]), seed=0).standings == ranked(HALF, seed=0).standings


def test_weights_never_make_up_battles() -> None:
    """Weighing every battle ten times moves no interval: it is still the same battles."""
    light = ranked(mixed([("human", HALF, 1.0)]), seed=0).standings
    heavy = ranked(mixed([("human", HALF, 10.0)]), seed=0).standings
    for one, other in zip(light, heavy, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_a_source_needs_a_positive_weight(weight: float) -> None:
    with pytest.raises(ValueError, match=r"'judge' has weight .* leave it out"):
        mixed([("judge", HALF, weight)])


def test_a_source_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        mixed([("judge", HALF, 1.0), ("judge", HALF, 1.0)])


def test_no_sources_are_refused_and_nothing_has_no_share() -> None:
    with pytest.raises(ValueError, match="no source"):
        mixed([])
    bad = Tally.count([("x", "y", Vote.BOTH_BAD, 3)])
    (share,) = mixed([("people", bad, 2.0)]).shares(TiePolicy.DROP_BOTH_BAD)
    assert (share.battles, share.share) == (0, 0)
