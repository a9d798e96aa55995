"""Every pair of systems: what was counted, and what follows for the two."""

import math
from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.bootstrap import Bootstrap
from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.interval import IntervalState
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.pairwise import Gap, Pairing, meetings
from nuggetstream.ratings.standing import BoardState
from nuggetstream.statistics.proportion import wilson
from tests.nuggetstream.ratings.counts import CIRCLE, SIX_OF_EIGHT, counted
from tests.voted import board, three_systems

QUICK = Options(resamples=200, provisional_below=0)
SANDWICH = Options(intervals=Intervals.SANDWICH, provisional_below=0)
ELO_PER_LOGIT = 400 / math.log(10)


def pair(ratings: Ratings, a: str, b: str) -> Pairing:
    (pairing,) = (pairing for pairing in ratings.pairs if (pairing.a, pairing.b) == (a, b))
    return pairing


def gap_of(pairing: Pairing) -> Gap:
    assert pairing.gap is not None
    return pairing.gap


def test_a_difference_is_the_one_worked_out_by_hand() -> None:
    (found,) = rate(SIX_OF_EIGHT, SANDWICH).pairs
    assert (found.a, found.battles, found.wins_a, found.wins_b, found.share) == ("x", 8, 6, 2, 0.75)
    assert found.share_bounds == wilson(6, 8)
    gap = gap_of(found)
    assert gap.gap == pytest.approx(ELO_PER_LOGIT * math.log(3))
    deviation = math.sqrt(2 / 3)
    assert gap.interval.low == pytest.approx(ELO_PER_LOGIT * (math.log(3) - 1.959963984540054 * deviation))
    # Φ(ln 3 / sqrt(2/3)) = Φ(1.3455)
    assert (gap.above, gap.below) == (pytest.approx(0.91076, abs=1e-4), pytest.approx(0.08924, abs=1e-4))
    assert gap.interval.state is IntervalState.BOUNDED


def test_pairs_come_in_the_order_of_the_board_and_each_once() -> None:
    compared = rate(CIRCLE, QUICK)
    systems = [standing.system for standing in compared.standings]
    assert sorted(systems) == ["x", "y", "z"]
    assert [(p.a, p.b) for p in compared.pairs] == [
        (systems[i], systems[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for gap in map(gap_of, compared.pairs):
        assert gap.gap >= 0
        assert gap.interval.finite is not None
        low, high = gap.interval.finite
        assert low <= gap.gap <= high
        assert gap.above is not None
        assert gap.below is not None
        assert gap.above + gap.below == pytest.approx(1)


def test_two_that_never_met_have_no_share_but_a_difference() -> None:
    counts = counted(
        ("x", "y", Vote.A, 3), ("x", "y", Vote.B, 2), ("y", "z", Vote.A, 3), ("y", "z", Vote.B, 2)
    )
    found = pair(rate(counts, QUICK), "x", "z")
    assert (found.battles, found.share, found.share_bounds) == (0, None, None)
    assert gap_of(found).gap == pytest.approx(2 * ELO_PER_LOGIT * math.log(1.5))


def test_one_that_is_not_ranked_has_counts_and_no_difference() -> None:
    compared = rate([*CIRCLE, *counted(("champion", "x", Vote.A, 3))], QUICK)
    assert compared.standings[-1].system == "champion"
    found = pair(compared, "x", "champion")
    assert (found.battles, found.wins_b, found.share) == (3, 3, 0)
    assert found.gap is None


def test_ties_alone_say_nothing_about_how_far_two_are_apart() -> None:
    compared = rate(counted(("x", "y", Vote.TIE, 4)), QUICK)
    assert compared.state is BoardState.ALL_TIED
    (found,) = compared.pairs
    gap = gap_of(found)
    assert (found.share, found.ties, gap.gap) == (0.5, 4, 0)
    assert (gap.interval.low, gap.above, gap.interval.state) == (None, None, IntervalState.DEGENERATE)


def test_ties_that_are_dropped_do_not_count() -> None:
    counts = [*SIX_OF_EIGHT, *counted(("x", "y", Vote.TIE, 4))]
    assert rate(counts, QUICK).pairs[0].battles == 12
    (found,) = rate(counts, replace(QUICK, policy=TiePolicy.DROP)).pairs
    assert (found.battles, found.ties, found.share) == (8, 0, 0.75)


def test_an_interval_without_ends_says_so() -> None:
    options = replace(QUICK, bootstrap=Bootstrap.MULTINOMIAL)
    (found,) = rate(counted(("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1)), options).pairs
    gap = gap_of(found)
    assert (gap.interval.finite, gap.interval.state) == (None, IntervalState.UNBOUNDED)
    assert gap.above is not None
    assert gap.below is not None
    assert gap.above + gap.below < 1  # resamples that could not be ranked are for neither


def test_nothing_compared_is_nothing_said() -> None:
    assert rate([], QUICK).pairs == ()


def test_meetings_are_told_from_both_sides_as_they_were_cast() -> None:
    rated = board(three_systems(), policy=TiePolicy.DROP)
    told = {(m.system, m.opponent): m for m in meetings(rated.tally, TiePolicy.DROP)}
    assert len(told) == 6
    x_z, z_x = told["x", "z"], told["z", "x"]
    assert (x_z.battles, x_z.wins, x_z.losses, x_z.ties, x_z.both_bad) == (6, 0, 2, 3, 1)
    assert (x_z.share, z_x.share) == (0.0, 1.0)  # the two that count
