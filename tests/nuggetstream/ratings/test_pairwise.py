"""Every pair of systems: what was counted, and what follows for the two."""

import math
from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.comparison import Pairing
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Bootstrap, Intervals, Options
from nuggetstream.ratings.pairwise import meetings, pairings
from nuggetstream.ratings.standing import BoardState, IntervalState
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.statistics.proportion import wilson
from tests.nuggetstream.ratings.counts import CIRCLE, SIX_OF_EIGHT, counted
from tests.voted import board, three_systems

QUICK = Options(resamples=200, provisional_below=0)
SANDWICH = Options(intervals=Intervals.SANDWICH, provisional_below=0)
ELO_PER_LOGIT = 400 / math.log(10)


def pair(ratings: Ratings, a: str, b: str) -> Pairing:
    (pairing,) = (pairing for pairing in pairings(ratings) if (pairing.a, pairing.b) == (a, b))
    return pairing


def test_a_difference_is_the_one_worked_out_by_hand() -> None:
    (found,) = pairings(rate(SIX_OF_EIGHT, SANDWICH))
    assert (found.a, found.battles, found.wins_a, found.wins_b, found.share) == ("x", 8, 6, 2, 0.75)
    assert (found.share_low, found.share_high) == wilson(6, 8)
    assert found.gap == pytest.approx(ELO_PER_LOGIT * math.log(3))
    deviation = math.sqrt(2 / 3 * 8 / 7)
    assert found.gap_low == pytest.approx(ELO_PER_LOGIT * (math.log(3) - 2.3646242515928 * deviation))
    # Student's t with 7 degrees of freedom at ln 3 / sqrt(16/21) = 1.2586
    assert (found.above, found.below) == (pytest.approx(0.87570, abs=1e-4), pytest.approx(0.12430, abs=1e-4))
    assert found.interval_state is IntervalState.BOUNDED


def test_pairs_come_in_the_order_of_the_board_and_each_once() -> None:
    compared = rate(CIRCLE, QUICK)
    systems = [standing.system for standing in compared.standings]
    assert sorted(systems) == ["x", "y", "z"]
    assert [(p.a, p.b) for p in pairings(compared)] == [
        (systems[i], systems[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for found in pairings(compared):
        assert found.gap is not None
        assert found.gap >= 0
        assert found.gap_low is not None
        assert found.gap_high is not None
        assert found.gap_low <= found.gap <= found.gap_high
        assert found.above is not None
        assert found.below is not None
        assert found.above + found.below == pytest.approx(1)


def test_two_that_never_met_have_no_share_but_a_difference() -> None:
    counts = counted(
        ("x", "y", Vote.A, 3), ("x", "y", Vote.B, 2), ("y", "z", Vote.A, 3), ("y", "z", Vote.B, 2)
    )
    found = pair(rate(counts, QUICK), "x", "z")
    assert (found.battles, found.share, found.share_low, found.share_high) == (0, None, None, None)
    assert found.gap == pytest.approx(2 * ELO_PER_LOGIT * math.log(1.5))


def test_one_that_is_not_ranked_has_counts_and_no_difference() -> None:
    compared = rate([*CIRCLE, *counted(("champion", "x", Vote.A, 3))], QUICK)
    assert compared.standings[-1].system == "champion"
    found = pair(compared, "x", "champion")
    assert (found.battles, found.wins_b, found.share) == (3, 3, 0)
    assert found.gap is None


def test_ties_alone_say_nothing_about_how_far_two_are_apart() -> None:
    compared = rate(counted(("x", "y", Vote.TIE, 4)), QUICK)
    assert compared.state is BoardState.ALL_TIED
    (found,) = pairings(compared)
    assert (found.share, found.ties, found.gap) == (0.5, 4, 0)
    assert (found.gap_low, found.above, found.interval_state) == (None, None, IntervalState.DEGENERATE)


def test_ties_that_are_dropped_do_not_count() -> None:
    counts = [*SIX_OF_EIGHT, *counted(("x", "y", Vote.TIE, 4))]
    assert pairings(rate(counts, QUICK))[0].battles == 12
    (found,) = pairings(rate(counts, replace(QUICK, policy=TiePolicy.DROP)))
    assert (found.battles, found.ties, found.share) == (8, 0, 0.75)


def test_an_interval_without_ends_says_so() -> None:
    options = replace(QUICK, bootstrap=Bootstrap.MULTINOMIAL)
    (found,) = pairings(rate(counted(("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1)), options))
    assert (found.gap_low, found.gap_high, found.interval_state) == (None, None, IntervalState.UNBOUNDED)
    assert found.above is not None
    assert found.below is not None
    assert found.above + found.below < 1  # resamples that could not be ranked are for neither


def test_nothing_compared_is_nothing_said() -> None:
    assert pairings(rate([], QUICK)) == ()


def test_meetings_are_told_from_both_sides_as_they_were_cast() -> None:
    rated = board(three_systems(), policy=TiePolicy.DROP)
    told = {(m.system, m.opponent): m for m in meetings(rated.tally, TiePolicy.DROP)}
    assert len(told) == 6
    x_z, z_x = told["x", "z"], told["z", "x"]
    assert (x_z.battles, x_z.wins, x_z.losses, x_z.ties, x_z.both_bad) == (6, 0, 2, 3, 1)
    assert (x_z.share, z_x.share) == (0.0, 1.0)  # the two that count
