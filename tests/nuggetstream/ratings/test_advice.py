"""What to ask next."""

from itertools import pairwise

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.advice import advise
from tests.voted import board, source, three_systems, vote


def test_advice_names_neighbours_in_order_and_the_battles_they_need() -> None:
    rated = board(three_systems())
    advised = advise(rated.fitted, 0.95)
    order = [standing.system for standing in rated.standings]
    assert [(pair.system, pair.opponent) for pair in advised.neighbours] == list(pairwise(order))
    assert all(pair.needed is None or pair.needed > 0 for pair in advised.neighbours)
    assert len(advised.next) == 3
    worth = [pair.shrinkage for pair in advised.next]
    assert worth == sorted(worth, reverse=True)
    assert 0 < worth[0] < 1


def test_equals_are_not_told_apart_by_any_number_of_battles() -> None:
    even = board(source(vote("x", "y", Vote.A, 20), vote("x", "y", Vote.B, 20)))
    assert [pair.needed for pair in advise(even.fitted, 0.95).neighbours] == [None]


def test_a_gap_that_never_varies_is_not_called_settled() -> None:
    shares = [vote("x", "y", 0.7, 5), vote("y", "z", Vote.A, 6), vote("y", "z", Vote.B, 4)]
    found = {pair.opponent: pair for pair in advise(board(source(*shares)).fitted, 0.95).neighbours}
    assert (found["y"].needed, found["y"].missing) == (None, "nothing varies")
    assert found["z"].needed is not None
