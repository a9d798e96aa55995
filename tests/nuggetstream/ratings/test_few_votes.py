"""Boards of few votes and few clusters: how often equal systems are told apart, and who has a rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import t as student

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots, linearised
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.votes import Counted, Votes
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.options import Bootstrap, Intervals, Options
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.statistics.student import two_sided_t
from tests.nuggetstream.ratings.counts import counted

UNRANKED = Options(provisional_below=0)
RESAMPLED = Options(provisional_below=0, intervals=Intervals.BOOTSTRAP, resamples=300)


def equal_votes(rng: np.random.Generator, systems: int, votes: int, clusters: int | None = None) -> Votes:
    """Votes between equal systems; the votes of a cluster share a taste."""
    a = rng.integers(0, systems, votes)
    b = (a + rng.integers(1, systems, votes)) % systems
    cluster, gap = np.arange(votes), np.zeros(votes)
    if clusters is not None:
        cluster = np.arange(votes) % clusters
        taste = rng.normal(0, 0.7, (clusters, systems))
        gap = taste[cluster, a] - taste[cluster, b]
    score = (rng.random(votes) < expit(gap)).astype(float)
    never = np.zeros(votes, dtype=bool)
    names = tuple(f"s{index}" for index in range(systems))
    ballots = Ballots(names, a, b, score, never, never, np.ones(votes), cluster)
    return Counted(ballots.tally) if clusters is None else ballots


def boards(options: Options, runs: int, *shape: int) -> list[Ratings]:
    rated = [rate(equal_votes(np.random.default_rng([5, run]), *shape), options) for run in range(runs)]
    return [ratings for ratings in rated if ratings.fit is not None]


def told_apart(rated: list[Ratings]) -> float:
    """Share of the pairs whose single interval is on one side of zero."""
    apart, pairs = 0, 0
    for ratings in rated:
        between = ratings.fit.differences  # type: ignore[union-attr]
        both = np.triu_indices(len(between.low), 1)
        apart += int(((between.low[both] > 0) | (between.high[both] < 0)).sum())
        pairs += len(both[0])
    return apart / pairs


def test_eight_clusters_do_not_tell_equal_systems_apart_more_often_than_they_say() -> None:
    """5% of 1,500 pairs, with a standard error of about 0.7 points; percentiles of resamples say 13%."""
    assert 0.03 < told_apart(boards(UNRANKED, 150, 5, 200, 8)) < 0.065
    assert told_apart(boards(RESAMPLED, 40, 5, 200, 8)) > 0.09


def test_sixty_votes_do_not_tell_equal_systems_apart_more_often_than_they_say() -> None:
    """3.2% of 2,800 pairs, with a standard error of about 0.4 points; percentiles of resamples say 8%."""
    assert 0.02 < told_apart(boards(UNRANKED, 100, 8, 60)) < 0.05
    assert told_apart(boards(RESAMPLED, 100, 8, 60)) > 0.06


def test_one_board_in_twenty_ranks_equal_systems_apart_and_half_of_them_have_a_single_interval() -> None:
    rated = boards(UNRANKED, 100, 8, 400)
    ranked_apart = [len({standing.rank for standing in ratings.standings}) > 1 for ratings in rated]
    singly = [told_apart([ratings]) > 0 for ratings in rated]
    assert np.mean(ranked_apart) < 0.1  # 5%, and two standard errors of 100 boards
    assert np.mean(singly) > 0.4


def test_a_true_difference_is_still_found() -> None:
    wins = np.array([[0, 70.0, 72], [30, 0, 52], [28, 48, 0]])
    tally = counted(*[("xyz"[i], "xyz"[j], Vote.A, int(wins[i, j])) for i, j in np.argwhere(wins > 0)])
    assert [(one.system, one.rank) for one in rate(tally).standings] == [("x", 1), ("y", 2), ("z", 2)]


def test_clusters_of_one_size_have_one_degree_of_freedom_less_than_their_number() -> None:
    votes = [
        Ballot("x", "y", Vote.A if (turn + query) % 2 else Vote.B, cluster=str(query))
        for query in range(8)
        for turn in range(6)
    ]
    found = linearised(np.zeros(2), Ballots.of(votes)).freedom(1)
    # Σ v² - Σ w² is 8 v² (1 - 1/6), so that the votes alone say more than 7: C - 1 is the most.
    assert found.tolist() == [7, 7]


def test_a_cluster_with_most_of_the_votes_leaves_few_degrees_of_freedom() -> None:
    sizes = [60, *[4] * 9]
    votes = [
        Ballot("x", "y", Vote.A if turn % 4 else Vote.B, cluster=str(query))
        for query, size in enumerate(sizes)
        for turn in range(size)
    ]
    theta = fit(Ballots.of(votes).tally.points(TiePolicy.HALF))
    (x, y) = linearised(theta, Ballots.of(votes)).freedom(1)
    assert x == pytest.approx(y)
    alone = 96**2 / (60**2 - 60 + 9 * (16 - 4)) * 0.9  # by the sizes, as the votes share no taste
    assert x == pytest.approx(alone)


def test_single_votes_have_the_freedom_of_their_number_less_the_strengths() -> None:
    ballots = Ballots.of(Ballot("x", "y", vote) for vote in [Vote.A] * 6 + [Vote.B] * 2)
    theta = fit(np.array([[0, 6.0], [2, 0]]))
    assert ballots.freedom(theta, np.arange(2), TiePolicy.HALF).tolist() == [7, 7]
    assert Counted(ballots.tally).freedom(theta, np.arange(2), TiePolicy.HALF).tolist() == [7, 7]


def test_two_clusters_have_the_interval_worked_out_by_hand() -> None:
    """Student's t with one degree of freedom: a log odds of 0 and of 2 log 2 around their mean, nearly."""
    votes = [Ballot("x", "y", vote, cluster="p") for vote in [Vote.A] * 5 + [Vote.B] * 5]
    votes += [Ballot("x", "y", vote, cluster="q") for vote in [Vote.A] * 8 + [Vote.B] * 2]
    ratings = rate(Ballots.of(votes), UNRANKED)
    between = ratings.fit.differences  # type: ignore[union-attr]
    # 13 of 20: each cluster pushes 1.5 and has half of the information 20 · 0.65 · 0.35.
    error = np.sqrt(2 * 1.5**2 / 0.5) / (20 * 0.65 * 0.35)
    reach = ELO_PER_LOGIT * student.ppf(0.975, 1) * error
    assert between.high[0, 1] - between.gap[0, 1] == pytest.approx(reach)


@given(st.floats(0.5, 0.999), st.floats(1, 1e6))
def test_quantiles_are_those_of_scipy_and_never_below_the_normal_one(level: float, freedom: float) -> None:
    found = float(two_sided_t(level, np.array(freedom)))
    assert found == pytest.approx(student.ppf((1 + level) / 2, freedom), rel=1e-6)
    assert found >= float(two_sided_t(level, None)) - 1e-6


def test_the_intervals_are_those_of_the_sandwich_unless_something_needs_resamples() -> None:
    resampled = [
        Options(bootstrap=Bootstrap.MULTINOMIAL),
        Options(resamples=200),
        Options(prior=1.0),
        Options(policy=TiePolicy.DAVIDSON),
        Options(intervals=Intervals.BOOTSTRAP),
    ]
    assert {options.source for options in resampled} == {Intervals.BOOTSTRAP}
    assert {Options().source, Options(prior=1.0, intervals=Intervals.SANDWICH).source} == {Intervals.SANDWICH}
    assert (Options().draws, Options(resamples=7).draws) == (1000, 7)


def test_one_loss_in_thirty_has_bounds_by_default_and_a_reason_where_resamples_lose_it() -> None:
    votes = counted(("x", "y", Vote.A, 29), ("x", "y", Vote.B, 1))
    x = rate(votes)["x"]
    assert x.low is not None
    assert x.low < 1000 + ELO_PER_LOGIT * np.log(29) / 2 < x.high  # type: ignore[operator]
    drawn = rate(votes, Options(bootstrap=Bootstrap.MULTINOMIAL))
    assert drawn["x"].low is None
    (note,) = (note for note in notes_of(drawn) if note.state == "unranked_resamples")
    assert "Sandwich intervals draw none" in note.text


def test_nobody_is_first_where_only_one_system_can_have_a_rank() -> None:
    ratings = rate(
        counted(("A", "B", Vote.A, 5), ("A", "B", Vote.B, 1), ("C", "B", Vote.A, 5), ("C", "B", Vote.B, 1))
    )
    assert [standing.system for standing in ratings.standings] == ["A", "C", "B"]
    for standing in ratings.standings:
        assert (standing.rank, standing.group, standing.probability_first) == (None, None, None)
    assert ratings["B"].remark == "no other system can be ranked"
    assert ratings["A"].remark == "provisional"


def test_provisional_systems_above_all_others_compete_without_a_rank() -> None:
    """B and D have rivals that beat them 9 to 0 or so: neither is probably the first of all."""
    ratings = rate(
        counted(
            *(("A", "B", Vote.A, 8), ("A", "B", Vote.B, 1), ("C", "D", Vote.A, 8), ("C", "D", Vote.B, 1)),
            *(("B", "D", Vote.A, 20), ("B", "D", Vote.B, 20)),
        )
    )
    assert (ratings["A"].rank, ratings["C"].rank) == (None, None)
    assert (ratings["B"].rank, ratings["D"].rank) == (1, 1)  # neither can be told apart from anybody
    assert (ratings["B"].probability_first or 0) + (ratings["D"].probability_first or 0) < 0.1
    below = rate(
        counted(
            *(("A", "B", Vote.A, 20), ("A", "B", Vote.B, 10), ("B", "new", Vote.A, 2)),
            ("B", "new", Vote.B, 1),
        )
    )
    assert sum(below[name].probability_first or 0 for name in "AB") == pytest.approx(1)


@given(st.lists(st.integers(1, 12), min_size=12, max_size=12), st.sampled_from([UNRANKED, Options()]))
def test_no_rank_is_better_than_that_of_a_system_with_a_higher_rating(
    wins: list[int], options: Options
) -> None:
    pairs = [(a, b) for a in "wxyz" for b in "wxyz" if a != b]
    ratings = rate(counted(*[(a, b, Vote.A, won) for (a, b), won in zip(pairs, wins, strict=True)]), options)
    ranked = [standing for standing in ratings.standings if standing.rank is not None]
    assert len(ranked) != 1
    by_rating = sorted(ranked, key=lambda standing: -(standing.rating or 0))
    ranks = [standing.rank or 0 for standing in by_rating]
    assert ranks == sorted(ranks)
