"""What to ask next."""

import math

from services.rater.advice import Unranked, advise
from services.rater.rating import BoardState

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.tally import TiePolicy, Unrankable
from services.rater.options import Options
from tests.services.rater.counts import CIRCLE, SIX_OF_EIGHT, counted

SANDWICH = Options(intervals=Intervals.SANDWICH)


def test_battles_needed_are_those_worked_out_by_hand() -> None:
    advised = advise(SIX_OF_EIGHT, SANDWICH, power=0.8, count=10)
    (found,) = advised.neighbours
    # ((1.95996 + 0.84162) / ln 3)² = 6.503 of information, 1.5 are there, a battle brings 3/16.
    assert (found.above, found.below, found.battles, found.needed) == ("x", "y", 8, 27)
    assert math.ceil(((1.959964 + 0.841621) ** 2 / math.log(3) ** 2 - 1.5) / (3 / 16)) == 27
    (best,) = advised.next
    assert (best.a, best.b, best.battles) == ("x", "y", 8)
    # One battle shrinks the variance V = 2/3 of the gap by V / (1/w + V), w = 3/16.
    assert abs(best.shrinkage - (2 / 3) / (16 / 3 + 2 / 3)) < 1e-9


def test_more_power_takes_more_battles_and_enough_battles_take_none() -> None:
    (plain,) = advise(SIX_OF_EIGHT, SANDWICH, power=0.8, count=1).neighbours
    (surer,) = advise(SIX_OF_EIGHT, SANDWICH, power=0.95, count=1).neighbours
    assert plain.needed is not None
    assert surer.needed is not None
    assert surer.needed > plain.needed
    clear = counted(("x", "y", Vote.A, 600), ("x", "y", Vote.B, 200))
    assert advise(clear, SANDWICH, power=0.8, count=1).neighbours[0].needed == 0


def test_no_number_of_battles_tells_equals_apart() -> None:
    (found,) = advise(
        counted(("x", "y", Vote.A, 5), ("x", "y", Vote.B, 5)), SANDWICH, power=0.8, count=1
    ).neighbours
    assert (found.needed, abs(found.gap) < 1e-6) == (None, True)


def test_a_vote_between_two_that_only_tied_takes_nothing_away_and_never_adds() -> None:
    votes = counted(("x", "y", Vote.A, 6), ("x", "y", Vote.B, 3), ("y", "z", Vote.TIE, 3))
    shrinkage = {
        (best.a, best.b): best.shrinkage for best in advise(votes, SANDWICH, power=0.8, count=3).next
    }
    assert 0 <= shrinkage["y", "z"] < 1e-9 < shrinkage["x", "y"] < 1


def test_neighbours_follow_the_board_and_only_so_many_pairs_are_named() -> None:
    advised = advise(CIRCLE, SANDWICH, power=0.8, count=2)
    order = [standing.system for standing in advised.rated.board.standings]
    assert [(n.above, n.below) for n in advised.neighbours] == [(order[0], order[1]), (order[1], order[2])]
    assert len(advised.next) == 2
    assert advised.next[0].shrinkage >= advised.next[1].shrinkage > 0


def test_where_nobody_is_ranked_the_reasons_are_all_there_is() -> None:
    advised = advise(counted(("x", "y", Vote.A, 3)), SANDWICH, power=0.8, count=5)
    assert (advised.rated.state, advised.neighbours, advised.next) == (BoardState.NOBODY_RANKED, (), ())
    assert advised.unranked == (
        Unranked("x", Unrankable.UNDEFEATED.value),
        Unranked("y", Unrankable.WINLESS.value),
    )


def test_where_everybody_ties_there_is_no_advice() -> None:
    advised = advise(counted(("x", "y", Vote.TIE, 3)), SANDWICH, power=0.8, count=5)
    assert (advised.rated.state, advised.neighbours, advised.next) == (BoardState.ALL_TIED, (), ())
    dropped = Options(policy=TiePolicy.DROP, intervals=Intervals.SANDWICH)
    nobody = advise(counted(("x", "y", Vote.TIE, 3)), dropped, power=0.8, count=5)
    assert nobody.rated.state is BoardState.NOBODY_RANKED
