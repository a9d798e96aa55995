"""The weak prior and the fragility of a board, through the one call that rates."""

from math import log

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.votes import mixed
from nuggetstream.ratings.model import rate
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.options import Intervals, InvalidOption, Options
from nuggetstream.ratings.standing import Unrankable
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.counts import counted

ELO = 400 / log(10)
UNDEFEATED = counted(("x", "y", Vote.A, 4))


def test_without_a_prior_an_undefeated_system_has_no_rating() -> None:
    assert rate(UNDEFEATED)["x"].unrankable is Unrankable.UNDEFEATED


def test_a_prior_gives_the_undefeated_the_rating_worked_out_by_hand() -> None:
    """Four wins and a prior of two: 4 · (1 - p) = 2 · (σ(θ) - ½) with p = σ(2θ), solved by bisection."""

    def excess(theta: float) -> float:
        win, phantom = 1 / (1 + 2.718281828459045 ** (-2 * theta)), 1 / (1 + 2.718281828459045**-theta)
        return 4 * (1 - win) - 2 * (phantom - 0.5)

    low, high = 0.0, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    ratings = rate(UNDEFEATED, Options(prior=2.0))
    assert ratings["x"].rating == pytest.approx(1000 + ELO * low, abs=1e-3)
    assert ratings["y"].unrankable is None
    assert "prior" in [note.state for note in notes_of(ratings)]


@pytest.mark.parametrize("intervals", Intervals)
def test_a_prior_rates_islands_and_every_interval_has_bounds(intervals: Intervals) -> None:
    counts = counted(("x", "y", Vote.A, 9), ("p", "q", Vote.B, 12), ("p", "q", Vote.A, 1))
    ratings = rate(counts, Options(prior=1.0, intervals=intervals, resamples=200))
    assert {standing.unrankable for standing in ratings.standings} == {None}
    for standing in ratings.standings:
        assert standing.low is not None
        assert standing.high is not None
        assert standing.low < standing.rating < standing.high  # type: ignore[operator]


def test_a_small_prior_hardly_changes_a_connected_board() -> None:
    counts = counted(("x", "y", Vote.A, 300), ("x", "y", Vote.B, 200))
    plain, weak = rate(counts), rate(counts, Options(prior=0.01))
    assert weak["x"].rating == pytest.approx(plain["x"].rating, abs=0.01)


def test_single_votes_take_a_prior_and_weighted_sources_only_with_resamples() -> None:
    votes = Ballots.of([Ballot("x", "y", Vote.A, cluster=str(query)) for query in range(12)])
    sandwich = Options(prior=1.0, intervals=Intervals.SANDWICH)
    assert rate(votes, sandwich)["x"].rank == 1
    sources = mixed([("people", rate(UNDEFEATED).tally, 1.0), ("judge", rate(UNDEFEATED).tally, 0.5)])
    assert rate(sources, Options(prior=1.0, provisional_below=0))["x"].rating is not None
    with pytest.raises(InvalidOption, match="prior: goes with sandwich intervals only for a single source"):
        rate(sources, sandwich)


def test_a_prior_does_not_go_with_a_model_of_ties() -> None:
    with pytest.raises(InvalidOption, match="prior: needs ties counted half or dropped, not davidson"):
        Options(policy=TiePolicy.DAVIDSON, prior=1.0)


def test_fragility_is_about_the_ranked_systems_only() -> None:
    """A provisional system with a better rating is not first, so dropping its votes changes nothing."""
    counts = counted(
        ("x", "y", Vote.A, 12), ("x", "y", Vote.B, 8), ("new", "x", Vote.A, 3), ("new", "x", Vote.B, 1)
    )
    ratings = rate(counts)
    assert ratings["new"].provisional
    assert (ratings.fragility.leader, ratings.fragility.successor) == ("x", "y")
    assert ratings.fragility.drops == 5  # 12 to 8 becomes 7 to 8


def test_one_tie_is_provisional_and_not_ranked_above_or_below_others() -> None:
    counts = counted(("x", "y", Vote.A, 30), ("x", "y", Vote.B, 20), ("y", "z", Vote.TIE, 1))
    ratings = rate(counts)
    z = ratings["z"]
    assert (z.provisional, z.rank, z.group, z.probability_first) == (True, None, None, None)
    assert z.rating == pytest.approx(ratings["y"].rating)
    assert [standing.system for standing in ratings.standings] == ["x", "y", "z"]
    assert sum(ratings[name].probability_first or 0.0 for name in "xy") == pytest.approx(1)


def test_provisional_systems_stand_in_the_order_of_their_ratings() -> None:
    """y has a better rating than x, and an interval that lies lower."""
    counts = counted(
        ("w", "x", Vote.A, 4), ("w", "x", Vote.B, 6), ("w", "y", Vote.A, 2), ("w", "y", Vote.B, 4),
        ("w", "z", Vote.B, 4), ("x", "y", Vote.A, 5), ("x", "y", Vote.B, 6), ("x", "z", Vote.A, 1),
        ("x", "z", Vote.B, 2), ("y", "z", Vote.B, 3),
    )  # fmt: skip
    ratings = rate(counts, Options(provisional_below=100, resamples=50))
    values = [standing.rating for standing in ratings.standings if standing.rating is not None]
    assert all(standing.provisional for standing in ratings.standings)
    assert values == sorted(values, reverse=True)
