"""What a board can be made of: sources with weights, ballots with clusters, and how they are resampled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.bootstrap import Bootstrap, FractionalCounts
from nuggetstream.ratings.bradley_terry import fit, fit_pairs
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import Strengths, differences, percentile_interval, summarise
from nuggetstream.ratings.leaderboard import Anchor, AnchorNotRanked, leaderboard
from nuggetstream.ratings.newton import DRAWN
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, connectivity
from nuggetstream.ratings.votes import mixed
from nuggetstream.statistics.proportion import wilson
from tests.nuggetstream.ratings.rated import rate

XYZ = [("x", "y", Vote.A, 6), ("y", "x", Vote.A, 3), ("y", "z", Vote.A, 5), ("z", "y", Vote.A, 2)]
XYZ += [("z", "x", Vote.TIE, 4), ("x", "z", Vote.BOTH_BAD, 2)]
HALF = Tally.count(XYZ)


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ballots_of_xyz(cluster: bool = False) -> list[Ballot]:
    return [
        Ballot(a, b, vote, cluster=f"query {n}" if cluster else None)
        for a, b, vote, count in XYZ
        for n in range(count)
    ]


def test_ballots_count_to_the_same_tally() -> None:
    tally = Ballots.of(ballots_of_xyz()).tally
    for counts in ("wins", "ties", "both_bad"):
        assert (getattr(tally, counts) == getattr(HALF, counts)).all()


@pytest.mark.parametrize("policy", TiePolicy)
def test_single_ballots_rate_like_their_counts(policy: TiePolicy) -> None:
    counted = leaderboard(HALF, seeded(), policy=policy, resamples=4000)
    single = leaderboard(Ballots.of(ballots_of_xyz()), seeded(1), policy=policy, resamples=4000)
    for one, other in zip(counted.standings, single.standings, strict=True):
        assert one.system == other.system
        assert one.rating == pytest.approx(other.rating)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=25)


@given(st.permutations(ballots_of_xyz()))
@settings(max_examples=20, deadline=None)
def test_the_order_of_ballots_never_matters(votes: list[Ballot]) -> None:
    points, expected = Ballots.of(votes).tally.points(TiePolicy.HALF), HALF.points(TiePolicy.HALF)
    assert points == pytest.approx(expected)


@given(st.floats(0, 1), st.floats(0.1, 5))
@settings(max_examples=30, deadline=None)
def test_weight_two_is_the_same_as_voting_twice(outcome: float, weight: float) -> None:
    once = Ballots.of([Ballot("x", "y", outcome, weight=2 * weight)]).tally
    twice = Ballots.of([Ballot("x", "y", outcome, weight=weight)] * 2).tally
    assert once.wins == pytest.approx(twice.wins)


def test_a_soft_outcome_is_part_of_a_win_for_each() -> None:
    tally = Ballots.of([Ballot("x", "y", 0.75), Ballot("y", "x", 0.25)]).tally
    assert tally.wins.tolist() == [[0, 1.5], [0.5, 0]]
    theta = fit(tally.points(TiePolicy.HALF))
    assert theta[0] - theta[1] == pytest.approx(np.log(3))


def test_a_soft_half_is_not_a_tie() -> None:
    assert Ballots.of([Ballot("x", "y", 0.5)]).tally.ties.sum() == 0


@pytest.mark.parametrize(
    ("ballot", "message"),
    [
        (Ballot("x", "x", Vote.A), "'x' battles itself"),
        (Ballot("x", "y", float("nan")), "outcome nan"),
        (Ballot("x", "y", 1.2), "outcome 1.2"),
        (Ballot("x", "y", Vote.A, weight=-1), "weight -1"),
        (Ballot("x", "y", Vote.A, weight=float("inf")), "weight inf"),
        (Ballot("x", "w", Vote.A), r"unknown systems \['w'\]"),
    ],
)
def test_a_bad_ballot_is_refused_by_name(ballot: Ballot, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ballots.of([ballot], systems=["x", "y"])


def test_no_ballots_give_an_empty_board() -> None:
    assert leaderboard(Ballots.of([]), seeded()).standings == ()


def test_votes_that_share_their_luck_make_wider_intervals() -> None:
    """Ten copies of each vote under one key are one vote, whatever their number."""
    rng = seeded(3)
    outcomes = [Vote.A if won else Vote.B for won in rng.random(60) < 0.6]
    alone = [Ballot("x", "y", outcome) for outcome in outcomes for _ in range(10)]
    keyed = [Ballot("x", "y", o, cluster=str(n)) for n, o in enumerate(outcomes) for _ in range(10)]
    plain = [Ballot("x", "y", outcome) for outcome in outcomes]
    widths = [_width(Ballots.of(votes)) for votes in (alone, keyed, plain)]
    assert widths[1] == pytest.approx(widths[2], rel=0.1)
    assert widths[0] < widths[2] / 2.5


def _width(ballots: Ballots) -> float:
    first = leaderboard(ballots, seeded(), resamples=3000).standings[0]
    assert first.high is not None
    assert first.low is not None
    return first.high - first.low


def test_a_mixed_board_shows_what_each_source_weighs() -> None:
    people = Tally.count([("x", "y", Vote.A, 30), ("x", "y", Vote.B, 10)])
    judge = Tally.count([("x", "y", Vote.B, 50), ("x", "y", Vote.A, 50), ("y", "z", Vote.TIE, 20)])
    board = leaderboard(mixed([("human", people, 1.0), ("judge", judge, 0.5)]), seeded())
    assert [(s.source, s.weight, s.battles) for s in board.sources] == [("human", 1, 40), ("judge", 0.5, 120)]
    assert [s.share for s in board.sources] == pytest.approx([0.4, 0.6])
    assert {s.system: s.battles for s in board.standings} == pytest.approx({"x": 90, "y": 100, "z": 10})


def test_one_source_of_weight_one_is_the_tally_itself() -> None:
    assert (mixed([("human", HALF, 1.0)]).tally.wins == HALF.wins).all()
    assert (
        leaderboard(mixed([("human", HALF, 1.0)]), seeded()).standings
        == leaderboard(HALF, seeded()).standings
    )


def test_weights_never_make_up_battles() -> None:
    """Weighing every battle ten times moves no interval: it is still the same battles."""
    light = leaderboard(mixed([("human", HALF, 1.0)]), seeded()).standings
    heavy = leaderboard(mixed([("human", HALF, 10.0)]), seeded()).standings
    for one, other in zip(light, heavy, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_a_source_needs_a_positive_weight(weight: float) -> None:
    with pytest.raises(ValueError, match="'judge' has weight"):
        mixed([("judge", HALF, weight)])


def test_a_source_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        mixed([("judge", HALF, 1.0), ("judge", HALF, 1.0)])


def test_the_anchor_has_its_rating_and_no_width() -> None:
    board = leaderboard(HALF, seeded(), anchor=Anchor("y", 1114))
    anchor = next(s for s in board.standings if s.system == "y")
    assert (anchor.rating, anchor.low, anchor.high) == (1114, 1114, 1114)
    free = {s.system: s.rating for s in leaderboard(HALF, seeded()).standings}
    for standing in board.standings:
        assert standing.rating == pytest.approx(free[standing.system] - free["y"] + 1114)


def test_an_anchor_without_a_rating_is_an_error() -> None:
    tally = Tally.count([*XYZ, ("best", "x", Vote.A, 1)])
    for name in ("best", "nobody"):
        with pytest.raises(AnchorNotRanked, match=name):
            leaderboard(tally, seeded(), anchor=Anchor(name, 1000))


def test_both_bootstraps_agree_where_there_are_many_battles() -> None:
    wins = np.array([[0, 700.0, 500], [300, 0, 600], [500, 400, 0]])
    ratings = [rate(wins, np.zeros((3, 3)), seeded(), resamples=4000, bootstrap=kind) for kind in Bootstrap]
    assert ratings[0].low == pytest.approx(ratings[1].low, abs=2)
    assert ratings[0].high == pytest.approx(ratings[1].high, abs=2)
    assert ratings[1].unranked == 0


def test_resamples_without_a_rating_are_counted_and_open_the_interval() -> None:
    """One loss in ten: drawn with replacement it is missing from about a third of the resamples."""
    wins = np.array([[0.0, 9.0], [1.0, 0.0]])
    ratings = rate(wins, np.zeros((2, 2)), seeded(), resamples=2000, bootstrap=Bootstrap.MULTINOMIAL)
    assert ratings.unranked / 2000 == pytest.approx(0.9**10, abs=0.04)
    assert np.isinf(ratings.high).all()
    assert np.isinf(ratings.low).all()
    assert list(ratings.rank) == [1, 1]
    assert ratings.probability_first.sum() == pytest.approx(1 - ratings.unranked / 2000)


def test_weighted_battles_have_no_multinomial_resample() -> None:
    with pytest.raises(FractionalCounts):
        rate(np.array([[0.0, 1.5], [2.0, 0.0]]), np.zeros((2, 2)), seeded(), bootstrap=Bootstrap.MULTINOMIAL)


def test_a_multinomial_resample_has_as_many_battles() -> None:
    draws = Bootstrap.MULTINOMIAL.draw(Pairs.of(HALF.wins, HALF.ties + HALF.both_bad), 50, seeded())
    assert (draws.played.sum(axis=1) == 22).all()


def test_the_interval_of_a_difference_is_its_own() -> None:
    """Errors that two systems share cancel in their difference."""
    shared = seeded().normal(size=(4000, 1))
    draws = np.hstack([1.0 + shared, shared, np.zeros((4000, 1))])
    strengths = Strengths(draws.mean(axis=0), draws)
    between = differences(strengths)
    assert between.low[0, 1] == pytest.approx(between.high[0, 1])
    assert between.above[0, 1] == 1
    assert between.gap[0, 1] == -between.gap[1, 0]
    assert between.above[1, 1] == 0
    assert summarise(strengths).low[0] < summarise(strengths).high[1]


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_differences_are_antisymmetric(seed: int) -> None:
    draws = seeded(seed).normal(size=(50, 4))
    between = differences(Strengths(draws.mean(axis=0), draws), level=0.9)
    assert between.low == pytest.approx(-between.high.T)
    assert between.above + between.above.T == pytest.approx(1 - np.eye(4))


def test_what_a_fit_leaves_between_equals_puts_neither_above() -> None:
    draws = np.array([[1.0, 1.0 + 1e-7, 0.0], [0.5, 0.5 - 1e-7, 0.0]])
    above = differences(Strengths(draws.mean(axis=0), draws)).above
    assert (above[0, 1], above[1, 0], above[0, 2]) == (0, 0, 1)


def test_an_unranked_resample_is_as_bad_as_it_can_be() -> None:
    low, high = percentile_interval(np.arange(99.0), 1, 0.9)
    assert (low, high) == (3.0, 95.0)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 17), (10, 10), (500, 1000)])
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(0.9, "wilson")
    assert wilson(successes, trials, 0.9) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (3, 2), (-1, 4), (float("nan"), 3)])
def test_wilson_needs_a_proportion(successes: float, trials: float) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson(successes, trials)


def test_win_shares_are_missing_where_nobody_met() -> None:
    shares = Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.TIE, 1), ("z", "y", Vote.B, 2)]).win_matrix()
    assert shares[0, 1] == 0.875
    assert shares[1, 0] == 0.125
    assert np.isnan(shares[0, 2])
    assert np.isnan(shares[0, 0])


def test_islands_are_listed() -> None:
    report = connectivity(Tally.count([("a", "b", Vote.A, 1), ("c", "d", Vote.TIE, 1)]))
    assert report.groups == (("c", "d"), ("a",), ("b",))
    assert report.islands == (("a", "b"), ("c", "d"))
    assert connectivity(Tally.count([])).islands == ()


def test_everybody_always_tied_leaves_a_model_of_ties_without_an_answer() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 8), ("y", "z", Vote.TIE, 3)])
    for policy in (TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER):
        board = leaderboard(tally, seeded(), policy=policy)
        assert {s.unrankable for s in board.standings} == {Unrankable.UNDETERMINED}
        assert board.tie_parameter is None
    assert {s.rating for s in leaderboard(tally, seeded()).standings} == {1000}


def test_the_policy_and_its_parameter_are_part_of_the_board() -> None:
    board = leaderboard(HALF, seeded(), policy=TiePolicy.DAVIDSON)
    assert board.policy is TiePolicy.DAVIDSON
    assert board.tie_parameter is not None
    assert board.tie_parameter > 0
    assert leaderboard(HALF, seeded()).tie_parameter is None


def test_chunks_of_resamples_are_all_there() -> None:
    strengths = estimate(Ballots.of(ballots_of_xyz(cluster=True)), np.arange(3), seeded(), resamples=7)
    assert strengths.draws.shape == (7, 3)


def test_resamples_are_fitted_precisely_enough() -> None:
    pairs = Pairs.of(HALF.wins, HALF.ties + HALF.both_bad)
    draws = Bootstrap.BAYESIAN.draw(pairs, 300, seeded())
    quick = fit_pairs(draws, start=fit_pairs(pairs), precision=DRAWN)
    assert quick == pytest.approx(fit_pairs(draws), abs=1e-5)
