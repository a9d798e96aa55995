"""What to ask next."""

import math
from itertools import pairwise

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.comparison import Separation, Unranked
from nuggetstream.ratings.model import rate
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.standing import BoardState, Unrankable
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.counts import CIRCLE, SIX_OF_EIGHT, counted
from tests.voted import board, source, three_systems, vote

SANDWICH = Options(intervals=Intervals.SANDWICH)


def test_advice_names_neighbours_in_order_and_the_battles_they_need() -> None:
    rated = board(three_systems())
    advised = advise(rated)
    order = [standing.system for standing in rated.standings]
    assert [(pair.above, pair.below) for pair in advised.neighbours] == list(pairwise(order))
    assert all(pair.needed is None or pair.needed > 0 for pair in advised.neighbours)
    assert len(advised.next) == 3
    worth = [pair.shrinkage for pair in advised.next]
    assert worth == sorted(worth, reverse=True)
    assert 0 < worth[0] < 1


def test_equals_are_not_told_apart_by_any_number_of_battles() -> None:
    even = board(source(vote("x", "y", Vote.A, 20), vote("x", "y", Vote.B, 20)))
    assert [(pair.needed, pair.state) for pair in advise(even).neighbours] == [(None, Separation.EQUAL)]


def test_a_gap_that_never_varies_is_not_called_settled() -> None:
    shares = [vote("x", "y", 0.7, 5), vote("y", "z", Vote.A, 6), vote("y", "z", Vote.B, 4)]
    found = {pair.below: pair for pair in advise(board(source(*shares))).neighbours}
    assert (found["y"].needed, found["y"].state) == (None, Separation.DEGENERATE)
    assert found["z"].needed is not None


def test_battles_needed_are_those_worked_out_by_hand() -> None:
    advised = advise(rate(SIX_OF_EIGHT, SANDWICH), power=0.8, count=10)
    (found,) = advised.neighbours
    # ((1.95996 + 0.84162) / ln 3)² = 6.503 of information, 1.5 · 7/8 are there, a battle brings 3/16.
    assert (found.above, found.below, found.battles, found.needed) == ("x", "y", 8, 28)
    assert math.ceil(((1.959964 + 0.841621) ** 2 / math.log(3) ** 2 - 1.5 * 7 / 8) / (3 / 16)) == 28
    (best,) = advised.next
    assert (best.a, best.b, best.battles) == ("x", "y", 8)
    # One battle shrinks the variance V = 2/3 · 8/7 of the gap by V / (1/w + V), w = 3/16.
    assert abs(best.shrinkage - (16 / 21) / (16 / 3 + 16 / 21)) < 1e-9


def test_more_power_takes_more_battles_and_enough_battles_take_none() -> None:
    (plain,) = advise(rate(SIX_OF_EIGHT, SANDWICH), power=0.8, count=1).neighbours
    (surer,) = advise(rate(SIX_OF_EIGHT, SANDWICH), power=0.95, count=1).neighbours
    assert plain.needed is not None
    assert surer.needed is not None
    assert surer.needed > plain.needed
    clear = counted(("x", "y", Vote.A, 600), ("x", "y", Vote.B, 200))
    assert advise(rate(clear, SANDWICH), power=0.8, count=1).neighbours[0].needed == 0


def test_no_number_of_battles_tells_equals_apart() -> None:
    (found,) = advise(rate(counted(("x", "y", Vote.A, 5), ("x", "y", Vote.B, 5)), SANDWICH)).neighbours
    assert (found.needed, abs(found.gap) < 1e-6) == (None, True)


def test_systems_that_a_hundred_thousand_battles_would_not_tell_apart_are_practically_equal() -> None:
    def advised(wins: int) -> tuple[int | None, Separation]:
        votes = counted(("x", "y", Vote.A, wins), ("x", "y", Vote.B, 2000 - wins))
        (found,) = advise(rate(votes, SANDWICH)).neighbours
        return found.needed, found.state

    # A share s shows with (z / ln(s / (1-s)))² / (s · (1-s)) battles, z = 2.8016: 314,000 for 0.5025 and
    # 78,500 for 0.505.
    assert advised(1005) == (None, Separation.EQUAL)
    needed, state = advised(1010)
    assert state is Separation.NEEDS_BATTLES
    assert needed is not None
    assert 76_000 < needed < 77_000  # 78,480 less the 2,000 that are there


def test_a_vote_between_two_that_only_tied_takes_nothing_away_and_never_adds() -> None:
    votes = counted(("x", "y", Vote.A, 6), ("x", "y", Vote.B, 3), ("y", "z", Vote.TIE, 3))
    shrinkage = {
        (best.a, best.b): best.shrinkage for best in advise(rate(votes, SANDWICH), power=0.8, count=3).next
    }
    assert 0 <= shrinkage["y", "z"] < 1e-9 < shrinkage["x", "y"] < 1


def test_neighbours_follow_the_board_and_only_so_many_pairs_are_named() -> None:
    ratings = rate(CIRCLE, SANDWICH)
    advised = advise(ratings, count=2)
    order = [standing.system for standing in ratings.standings]
    assert [(n.above, n.below) for n in advised.neighbours] == [(order[0], order[1]), (order[1], order[2])]
    assert len(advised.next) == 2
    assert advised.next[0].shrinkage >= advised.next[1].shrinkage > 0


def test_where_nobody_is_ranked_the_reasons_are_all_there_is() -> None:
    ratings = rate(counted(("x", "y", Vote.A, 3)), SANDWICH)
    advised = advise(ratings)
    assert (ratings.state, advised.neighbours, advised.next) == (BoardState.NOBODY_RANKED, (), ())
    assert advised.unranked == (Unranked("x", Unrankable.UNDEFEATED), Unranked("y", Unrankable.WINLESS))


def test_where_everybody_ties_there_is_no_advice() -> None:
    ratings = rate(counted(("x", "y", Vote.TIE, 3)), SANDWICH)
    advised = advise(ratings)
    assert (ratings.state, advised.neighbours, advised.next) == (BoardState.ALL_TIED, (), ())
    assert "no information about chance" in str(advised.missing)
    dropped = Options(policy=TiePolicy.DROP, intervals=Intervals.SANDWICH)
    nobody = rate(counted(("x", "y", Vote.TIE, 3)), dropped)
    assert nobody.state is BoardState.NOBODY_RANKED
    assert advise(nobody).missing == "no two systems can be ranked yet"
