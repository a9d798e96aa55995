"""Every pair of systems: what was counted, and what follows for the two."""

import math
from dataclasses import replace

import pytest
from services.rater.pairwise import Compared, Pairing, compare
from services.rater.rating import BoardState, IntervalState

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.statistics.proportion import wilson
from services.rater.options import Options
from tests.services.rater.counts import CIRCLE, SIX_OF_EIGHT, counted

QUICK = Options(resamples=200)
SANDWICH = Options(intervals=Intervals.SANDWICH)
ELO_PER_LOGIT = 400 / math.log(10)


def pair(compared: Compared, a: str, b: str) -> Pairing:
    (found,) = (each for each in compared.pairs if (each.a, each.b) == (a, b))
    return found


def test_a_difference_is_the_one_worked_out_by_hand() -> None:
    (found,) = compare(SIX_OF_EIGHT, SANDWICH).pairs
    assert (found.a, found.battles, found.wins_a, found.wins_b, found.share) == ("x", 8, 6, 2, 0.75)
    assert (found.share_low, found.share_high) == wilson(6, 8)
    assert found.gap == pytest.approx(ELO_PER_LOGIT * math.log(3))
    deviation = math.sqrt(2 / 3)
    assert found.gap_low == pytest.approx(ELO_PER_LOGIT * (math.log(3) - 1.959963984540054 * deviation))
    # Φ(ln 3 / sqrt(2/3)) = Φ(1.3455)
    assert (found.above, found.below) == (pytest.approx(0.91076, abs=1e-4), pytest.approx(0.08924, abs=1e-4))
    assert found.interval is IntervalState.BOUNDED


def test_pairs_come_in_the_order_of_the_board_and_each_once() -> None:
    compared = compare(CIRCLE, QUICK)
    assert sorted(compared.systems) == ["x", "y", "z"]
    assert [(p.a, p.b) for p in compared.pairs] == [
        (compared.systems[i], compared.systems[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for found in compared.pairs:
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
    found = pair(compare(counts, QUICK), "x", "z")
    assert (found.battles, found.share, found.share_low) == (0, None, None)
    assert found.gap == pytest.approx(2 * ELO_PER_LOGIT * math.log(1.5))


def test_one_that_is_not_ranked_has_counts_and_no_difference() -> None:
    compared = compare([*CIRCLE, *counted(("champion", "x", Vote.A, 3))], QUICK)
    assert compared.systems[-1] == "champion"
    found = pair(compared, "x", "champion")
    assert (found.battles, found.wins_b, found.share) == (3, 3, 0)
    assert (found.gap, found.above, found.interval) == (None, None, None)


def test_ties_alone_say_nothing_about_how_far_two_are_apart() -> None:
    compared = compare(counted(("x", "y", Vote.TIE, 4)), QUICK)
    assert compared.rated.state is BoardState.ALL_TIED
    (found,) = compared.pairs
    assert (found.share, found.ties, found.gap) == (0.5, 4, 0)
    assert (found.gap_low, found.above, found.interval) == (None, None, IntervalState.UNDETERMINED)


def test_ties_that_are_dropped_do_not_count() -> None:
    counts = [*SIX_OF_EIGHT, *counted(("x", "y", Vote.TIE, 4))]
    assert compare(counts, QUICK).pairs[0].battles == 12
    (found,) = compare(counts, replace(QUICK, policy=TiePolicy.DROP)).pairs
    assert (found.battles, found.ties, found.share) == (8, 0, 0.75)


def test_an_interval_without_ends_says_so() -> None:
    options = replace(QUICK, bootstrap=Bootstrap.MULTINOMIAL)
    (found,) = compare(counted(("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1)), options).pairs
    assert (found.gap_low, found.gap_high, found.interval) == (None, None, IntervalState.UNBOUNDED)
    assert found.above is not None
    assert found.below is not None
    assert found.above + found.below < 1  # resamples that could not be ranked are for neither


def test_nothing_compared_is_nothing_said() -> None:
    assert compare([], QUICK).pairs == ()
