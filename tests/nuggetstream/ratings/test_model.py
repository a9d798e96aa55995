"""Boards as they are asked for, and what is said where the battles give no numbers."""

import math
from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.options import Anchor, Bootstrap, Intervals, InvalidOption, Options
from nuggetstream.ratings.standing import BoardState, IntervalState, Standing, Unrankable
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.counts import CIRCLE, SIX_OF_EIGHT, counted

QUICK = Options(resamples=100, provisional_below=0)
SANDWICH = Options(intervals=Intervals.SANDWICH, provisional_below=0)
ELO_PER_LOGIT = 400 / math.log(10)
T_OF_7 = 2.3646242515928


def of(ratings: Ratings, system: str) -> Standing:
    return ratings[system]


def test_sandwich_intervals_are_those_worked_out_by_hand() -> None:
    x = of(rate(SIX_OF_EIGHT, SANDWICH), "x")
    # The odds are 3 to 1; the variance of the gap is (1/6 + 1/2) · 8/7, of each end of it a quarter of that.
    assert x.rating == pytest.approx(1000 + ELO_PER_LOGIT * math.log(3) / 2)
    reach = ELO_PER_LOGIT * T_OF_7 * math.sqrt(16 / 21) / 2
    assert (x.low, x.high) == (pytest.approx(x.rating - reach), pytest.approx(x.rating + reach))
    # P(T > -ln 3 / sqrt(16/21)) with 7 degrees of freedom
    assert x.probability_first == pytest.approx(0.8755, abs=0.01)


def test_a_fit_shows_its_strengths_and_none_of_its_resamples() -> None:
    fit = rate(SIX_OF_EIGHT, QUICK).fit
    assert fit is not None
    assert fit.to_frame().rows() == [
        ("x", pytest.approx(math.log(3) / 2)),
        ("y", pytest.approx(-math.log(3) / 2)),
    ]
    assert repr(fit) == str(fit.table())


def test_a_sandwich_has_the_ratings_of_the_bootstrap() -> None:
    one, other = rate(CIRCLE, QUICK), rate(CIRCLE, SANDWICH)
    assert [(s.system, s.rating) for s in one.standings] == [(s.system, s.rating) for s in other.standings]


def test_a_sandwich_around_an_anchor_is_an_interval_of_a_difference() -> None:
    anchored = rate(SIX_OF_EIGHT, replace(SANDWICH, anchor=Anchor("y", 1200.0)))
    x, y = of(anchored, "x"), of(anchored, "y")
    assert (y.rating, y.low, y.high) == (1200, 1200, 1200)
    assert x.rating == pytest.approx(1200 + ELO_PER_LOGIT * math.log(3))
    assert x.high == pytest.approx(x.rating + ELO_PER_LOGIT * T_OF_7 * math.sqrt(16 / 21))


@pytest.mark.parametrize("policy", [TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER])
def test_a_sandwich_is_not_for_models_of_ties(policy: TiePolicy) -> None:
    with pytest.raises(InvalidOption, match="intervals: sandwich is for ties counted half or dropped"):
        replace(SANDWICH, policy=policy)


@pytest.mark.parametrize("options", [QUICK, SANDWICH], ids=["bootstrap", "sandwich"])
def test_where_everybody_ties_ratings_are_equal_and_nothing_says_how_surely(options: Options) -> None:
    rated = rate(counted(("x", "y", Vote.TIE, 3), ("y", "z", Vote.BOTH_BAD, 2)), options)
    assert rated.state is BoardState.ALL_TIED
    for standing in rated.standings:
        assert (standing.rating, standing.rank) == (pytest.approx(1000), None)
        assert (standing.low, standing.high, standing.probability_first) == (None, None, None)
    assert [note.state for note in notes_of(rated) if note.state == "all_tied"] == ["all_tied"]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [(TiePolicy.DROP, Unrankable.NO_BATTLES), (TiePolicy.DAVIDSON, Unrankable.UNDETERMINED)],
)
def test_where_everybody_ties_other_policies_rank_nobody(policy: TiePolicy, reason: Unrankable) -> None:
    rated = rate(counted(("x", "y", Vote.TIE, 3)), replace(QUICK, policy=policy))
    assert rated.state is BoardState.NOBODY_RANKED
    assert {standing.unrankable for standing in rated.standings} == {reason}


def test_a_system_that_only_tied_with_the_anchor_has_no_interval() -> None:
    counts = [*CIRCLE, *counted(("x", "twin", Vote.TIE, 5))]
    rated = rate(counts, replace(QUICK, anchor=Anchor("x", 1000.0)))
    twin = of(rated, "twin")
    assert (twin.rating, twin.low, twin.high) == (pytest.approx(1000), None, None)
    assert of(rated, "y").low is not None
    assert (of(rated, "x").low, of(rated, "x").high) == (1000, 1000)


def test_between_two_islands_nothing_is_known() -> None:
    counts = [*CIRCLE, *counted(("p", "q", Vote.A, 50), ("p", "q", Vote.B, 40))]
    rated = rate(counts, QUICK)
    assert rated.state is BoardState.RANKED
    assert {s.system for s in rated.standings if s.rank} == {"x", "y", "z"}
    assert of(rated, "p").unrankable is Unrankable.DISCONNECTED
    assert any("2 groups that never met" in note.text for note in notes_of(rated))


def test_no_battles_are_an_empty_board_and_one_way_wins_rank_nobody() -> None:
    empty = rate([], replace(QUICK, anchor=Anchor("x", 1000.0)))
    assert (empty.state, empty.standings, empty.options.anchor) == (BoardState.EMPTY, (), None)
    one_way = rate(counted(("x", "y", Vote.A, 9)), replace(QUICK, anchor=Anchor("x", 1000.0)))
    assert (one_way.state, one_way.options.anchor) == (BoardState.NOBODY_RANKED, None)
    assert of(one_way, "x").unrankable is Unrankable.UNDEFEATED


def test_an_anchor_that_is_unknown_or_not_ranked_is_refused() -> None:
    counts = [*CIRCLE, *counted(("champion", "x", Vote.A, 3))]
    with pytest.raises(InvalidOption, match="anchor: 'ghost' has no battle here"):
        rate(counts, replace(QUICK, anchor=Anchor("ghost", 1000.0)))
    with pytest.raises(InvalidOption, match="anchor: 'champion' is not ranked: never lost or tied"):
        rate(counts, replace(QUICK, anchor=Anchor("champion", 1000.0)))


def test_a_model_without_a_solution_ranks_nobody_whatever_the_anchor() -> None:
    options = replace(QUICK, policy=TiePolicy.RAO_KUPPER, anchor=Anchor("x", 1000.0))
    rated = rate(counted(("x", "y", Vote.TIE, 3)), options)
    assert (rated.state, rated.options.anchor) == (BoardState.NOBODY_RANKED, None)


def test_resamples_that_cannot_be_ranked_leave_an_interval_without_ends() -> None:
    options = replace(QUICK, bootstrap=Bootstrap.MULTINOMIAL)
    rated = rate(counted(("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1)), options)
    assert rated.unranked_resamples > 5
    x = of(rated, "x")
    assert (x.low, x.high, x.interval_state) == (None, None, IntervalState.UNBOUNDED)
    (note,) = (note for note in notes_of(rated) if note.state == "unranked_resamples")
    assert note.text.startswith(f"{rated.unranked_resamples} of 100 resamples could not be ranked")


def test_a_model_of_ties_says_its_parameter() -> None:
    counts = [*CIRCLE, *(PairCount(c.system_a, c.system_b, Vote.TIE, 1) for c in CIRCLE)]
    assert rate(counts, replace(QUICK, policy=TiePolicy.DAVIDSON)).tie_parameter > 0  # type: ignore[operator]
    assert rate(counts, QUICK).tie_parameter is None
