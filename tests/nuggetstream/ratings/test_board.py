"""Boards of files of votes: exact numbers where votes are few, and states where there are none."""

import csv
from math import log, log10, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import ReadOptions
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.fitting.votes import Mixed
from nuggetstream.ratings.model import OneCluster, Ratings, Unsettled, rate
from nuggetstream.ratings.options import Anchor, AnchorNotRanked, Bootstrap, Intervals, Options
from nuggetstream.ratings.pairwise import gaps
from nuggetstream.ratings.standing import BoardState, IntervalState, Unrankable
from nuggetstream.ratings.study.casting import Poll, cast, poll, systems_of
from nuggetstream.ratings.study.sources import gather
from nuggetstream.ratings.ties import TiePolicy
from tests.voted import board, source, three_systems, vote

ELO_PER_LOGIT = 400 / log(10)
Z = 1.959964
OUTCOMES = st.sampled_from([(Vote.A, Vote.B), (Vote.B, Vote.A), (Vote.TIE, Vote.TIE), (0.25, 0.75)])
ROWS = st.lists(
    st.tuples(st.permutations(["x", "y", "z"]), OUTCOMES, st.sampled_from([1.0, 0.5])), min_size=2
)


def width(rated: Ratings) -> float:
    found = rated.standings[0]
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_three_wins_of_four_are_191_points_apart() -> None:
    rated = board(source(vote("x", "y", Vote.A, 3), vote("y", "x", Vote.A)))
    first, second = rated.standings
    assert (first.system, second.system) == ("x", "y")
    assert first.rating == pytest.approx(1000 + 200 * log10(3))
    assert second.rating == pytest.approx(1000 - 200 * log10(3))
    assert (first.battles, first.wins, first.losses, first.ties) == (4, 3, 1, 0)


def test_a_count_is_as_many_votes_and_a_weight_is_not() -> None:
    single = [vote("x", "y", Vote.A)] * 30 + [vote("x", "y", Vote.B)] * 10
    one_by_one = board(source(*single))
    counted = board(source(vote("x", "y", Vote.A, 30), vote("x", "y", Vote.B, 10)))
    weighed = board(source(vote("x", "y", Vote.A, weight=30.0), vote("x", "y", Vote.B, weight=10.0)))
    assert counted.standings == one_by_one.standings
    assert weighed.standings[0].rating == pytest.approx(counted.standings[0].rating)
    assert width(weighed) > 3 * width(counted)  # two votes, however heavy, are two votes


def test_counted_rows_with_a_weight_are_resampled_one_by_one() -> None:
    """All weights alike change no interval but by chance: the counts are still single votes."""
    plain = board(source(vote("x", "y", Vote.A, 30), vote("x", "y", Vote.B, 10)), resamples=4000)
    heavy = source(vote("x", "y", Vote.A, 30, weight=2.0), vote("x", "y", Vote.B, 10, weight=2.0))
    votes = cast((heavy,), ("x", "y"))
    assert isinstance(votes, Poll)
    assert votes.ballots.clusters == 40
    assert width(rate(votes, Options(resamples=4000))) == pytest.approx(width(plain), rel=0.1)


def test_a_share_of_a_point_is_a_part_of_a_win_and_no_tie() -> None:
    rated = board(
        source(vote("x", "y", 0.75), vote("y", "x", 0.25), vote("x", "y", 0.5)), policy=TiePolicy.DROP
    )
    assert rated.standings[0].wins == 2.0
    assert rated.standings[0].rating == pytest.approx(1000 + 200 * log10(2))


def test_a_source_of_half_the_weight_is_half_the_points() -> None:
    people = source(vote("x", "y", Vote.A, 3), vote("x", "y", Vote.B, 1), name="people")
    judge = source(vote("x", "y", Vote.A, 1), vote("x", "y", Vote.B, 3), name="judge", weight=0.5)
    rated = board(people, judge)
    assert rated.standings[0].rating == pytest.approx(1000 + 200 * log10(3.5 / 2.5))
    assert [(s.source, s.weight, s.battles, s.share) for s in rated.shares] == [
        ("people", 1.0, 4.0, pytest.approx(2 / 3)),
        ("judge", 0.5, 4.0, pytest.approx(1 / 3)),
    ]
    assert poll((people, judge), ("x", "y")).shares(TiePolicy.HALF) == rated.shares


def test_the_sandwich_of_eight_battles_is_known_by_hand() -> None:
    rated = board(source(vote("x", "y", Vote.A, 6), vote("x", "y", Vote.B, 2)), intervals=Intervals.SANDWICH)
    (gap,) = gaps(rated.fit) if rated.fit else ()
    t = 2.3646242515928  # Student's, 7 degrees of freedom
    reach = ELO_PER_LOGIT * t * sqrt((1 / 6 + 1 / 2) * 8 / 7)
    assert gap.gap == pytest.approx(400 * log10(3))
    assert gap.low == pytest.approx(gap.gap - reach, rel=1e-5)
    assert gap.high == pytest.approx(gap.gap + reach, rel=1e-5)
    # P(T > -1.2586) with 7 degrees of freedom
    assert [one.probability_first for one in rated.standings] == pytest.approx([0.8757, 0.1243], abs=0.01)


def test_the_sandwich_of_counts_is_that_of_the_single_votes() -> None:
    sources = (
        three_systems(),
        source(vote("x", "z", Vote.A, 4), vote("y", "x", Vote.TIE, 3), name="judge", weight=0.3),
    )
    systems = systems_of(sources)
    counted, single = cast(sources, systems), poll(sources, systems)
    assert isinstance(counted, Mixed)
    theta, group = np.array([0.3, 0.1, -0.4]), np.arange(3)
    for policy in (TiePolicy.HALF, TiePolicy.DROP_BOTH_BAD, TiePolicy.DROP):
        by_count = counted.covariance(theta, group, policy)
        assert single.covariance(theta, group, policy) == pytest.approx(by_count)
        assert single.freedom(theta, group, policy) == pytest.approx(counted.freedom(theta, group, policy))


@given(ROWS)
def test_neither_the_sides_nor_the_order_of_rows_matter(
    rows: list[tuple[list[str], tuple[Vote | float, Vote | float], float]],
) -> None:
    forth = [vote(a, b, said, weight=weight) for (a, b, _), (said, _), weight in rows]
    back = [vote(b, a, turned, weight=weight) for (a, b, _), (_, turned), weight in reversed(rows)]
    found = []
    for votes in (forth, back):
        sources = (source(*votes),)
        standings = rate(poll(sources, ("x", "y", "z")), Options(resamples=1)).standings
        found.append({each.system: each for each in standings})
    for system, one in found[0].items():
        other = found[1][system]
        assert (one.unrankable, one.battles, one.wins, one.ties) == (
            other.unrankable,
            other.battles,
            other.wins,
            other.ties,
        )
        assert one.rating == pytest.approx(other.rating, abs=1e-6)


def test_the_bootstrap_and_the_sandwich_give_intervals_of_one_width() -> None:
    votes = [vote("x", "y", Vote.A if turn % 3 else Vote.B) for turn in range(300)]
    by_draws = width(board(source(*votes), resamples=4000))
    assert width(board(source(*votes), intervals=Intervals.SANDWICH)) == pytest.approx(by_draws, rel=0.1)


def test_votes_of_one_query_share_their_luck() -> None:
    together = [vote("x", "y", Vote.A if query % 3 else Vote.B, 5, cluster=str(query)) for query in range(12)]
    apart = [vote("x", "y", Vote.A if query % 3 else Vote.B, 5) for query in range(12)]
    assert width(board(source(*together))) > 1.8 * width(board(source(*apart)))  # √5 in the long run


def test_alike_votes_without_a_cluster_stand_alone_beside_votes_with_one() -> None:
    mixture = source(vote("x", "y", Vote.A, 3, cluster="q"), vote("x", "y", Vote.B, 4))
    ballots = poll((mixture,), ("x", "y")).ballots
    assert ballots.clusters == 5
    assert len(set(ballots.cluster[:3].tolist())) == 1


@pytest.mark.parametrize("intervals", Intervals)
def test_one_cluster_is_an_error(intervals: Intervals) -> None:
    votes = [vote("x", "y", outcome, cluster="q") for outcome in (Vote.A, Vote.B)]
    with pytest.raises(OneCluster):
        board(source(*votes), intervals=intervals)


def test_where_everybody_ties_there_is_no_interval_no_rank_and_no_best() -> None:
    rated = board(source(vote("x", "y", Vote.TIE, 9), vote("y", "z", Vote.BOTH_BAD, 9)))
    assert rated.state is BoardState.ALL_TIED
    for standing in rated.standings:
        assert standing.rating == pytest.approx(1000)
        assert standing.interval_state is IntervalState.DEGENERATE
        assert (standing.low, standing.high) == (None, None)
        assert (standing.rank, standing.probability_first) == (None, None)
    assert rated.fit is not None
    assert {gap.above for gap in gaps(rated.fit)} == {None}
    assert "no information about chance" in str(advise(rated).missing)


def test_where_everybody_ties_other_policies_rank_nobody() -> None:
    ties = source(vote("x", "y", Vote.TIE, 9))
    dropped = board(ties, policy=TiePolicy.DROP)
    assert {standing.unrankable for standing in dropped.standings} == {Unrankable.NO_BATTLES}
    assert dropped.state is BoardState.NOBODY_RANKED
    modelled = board(ties, policy=TiePolicy.DAVIDSON)
    assert {standing.unrankable for standing in modelled.standings} == {Unrankable.UNDETERMINED}
    for rated in (dropped, modelled):
        assert rated.fit is None
        assert advise(rated).missing == "no two systems can be ranked yet"


def test_systems_that_are_always_equal_share_the_first_place() -> None:
    rated = board(source(vote("b", "c", Vote.TIE, 5), vote("c", "z", Vote.A, 40), vote("c", "z", Vote.B, 2)))
    first = {standing.system: standing.probability_first for standing in rated.standings}
    assert first["b"] == pytest.approx(first["c"])
    assert first["b"] == pytest.approx(0.5, abs=0.01)


def test_two_islands_are_named_and_only_one_of_them_is_ranked() -> None:
    rated = board(
        source(
            vote("x", "y", Vote.A, 2),
            vote("x", "y", Vote.B, 2),
            vote("p", "q", Vote.A),
            vote("p", "q", Vote.B),
        )
    )
    assert rated.islands == (("p", "q"), ("x", "y"))
    assert {s.system: s.unrankable for s in rated.standings} == {
        "x": None,
        "y": None,
        "p": Unrankable.DISCONNECTED,
        "q": Unrankable.DISCONNECTED,
    }


def test_a_known_system_without_a_vote_is_on_the_board_with_its_reason() -> None:
    sources = (three_systems(),)
    rated = rate(cast(sources, systems_of(sources, ["new"])))
    assert (rated.standings[-1].system, rated.standings[-1].unrankable) == ("new", Unrankable.NO_BATTLES)


def test_resamples_that_cannot_be_ranked_leave_an_interval_open() -> None:
    votes = source(vote("x", "y", Vote.A), vote("x", "y", Vote.B))
    rated = board(votes, bootstrap=Bootstrap.MULTINOMIAL, resamples=100)
    assert rated.fit is not None
    assert 30 < rated.unranked_resamples < 70  # half of them draw the same vote twice
    assert {standing.interval_state for standing in rated.standings} == {IntervalState.UNBOUNDED}


def test_where_no_resample_can_be_ranked_no_share_of_them_is_named() -> None:
    """Two wins and a tie around a circle fit Davidson's model; no resample of them has a circle of wins."""
    votes = source(vote("x", "y", Vote.A), vote("y", "z", Vote.A), vote("z", "x", Vote.TIE))
    rated = board(votes, policy=TiePolicy.DAVIDSON, bootstrap=Bootstrap.MULTINOMIAL, resamples=20)
    assert rated.fit is not None
    assert rated.unranked_resamples == 20
    for standing in rated.standings:
        assert standing.rating is not None
        assert standing.interval_state is IntervalState.UNBOUNDED
        assert standing.probability_first is None
    assert {gap.above for gap in gaps(rated.fit)} == {None}
    assert advise(rated).missing == "these votes give no covariance of the strengths"


def test_weights_too_uneven_for_any_fit_are_an_error() -> None:
    votes = [vote("x", "y", Vote.A, weight=1e12), vote("y", "x", Vote.A, weight=1e-12)]
    with pytest.raises(Unsettled):
        board(source(*votes))


def test_an_anchor_stays_where_it_is_put_and_must_be_ranked() -> None:
    sources = source(vote("x", "y", Vote.A, 3), vote("x", "y", Vote.B), vote("up", "x", Vote.A))
    rated = board(sources, anchor=Anchor("y", 1114.0))
    y = next(standing for standing in rated.standings if standing.system == "y")
    assert (y.rating, y.low, y.interval_state) == (1114.0, 1114.0, IntervalState.FIXED)
    assert rated.standings[0].rating == pytest.approx(1114 + 400 * log10(3))
    for name in ("up", "nobody"):
        with pytest.raises(AnchorNotRanked, match="the ranked systems are x, y"):
            board(sources, anchor=Anchor(name, 1000.0))


def test_a_model_of_ties_has_no_sandwich() -> None:
    with pytest.raises(ValueError, match="not for davidson"):
        Options(policy=TiePolicy.DAVIDSON, intervals=Intervals.SANDWICH)


def test_the_crowd_of_llmfao_is_rated_as_published(recorded_data: Path) -> None:
    """Bradley-Terry strengths that evalica published for these votes, up to a common factor."""
    folder = recorded_data / "llmfao"
    sources = gather([folder / "crowd-comparisons.csv"], {}, ReadOptions())
    rated = rate(cast(sources, systems_of(sources)), Options(intervals=Intervals.SANDWICH))
    with (folder / "golden-ratings.csv").open(encoding="utf-8", newline="") as file:
        golden = {
            row["item"]: log(float(row["score"]))
            for row in csv.DictReader(file)
            if row["algorithm"] == "bradley_terry"
        }
    middle = sum(golden.values()) / len(golden)
    for standing in rated.standings:
        assert standing.rating == pytest.approx(
            1000 + ELO_PER_LOGIT * (golden[standing.system] - middle), abs=1e-3
        )
