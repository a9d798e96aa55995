"""Single ballots: weights, soft outcomes and clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.xyz import HALF, ballots_of_xyz
from tests.voted import ranked


def _width(ballots: Ballots) -> float:
    first = ranked(ballots, seed=0, resamples=3000).standings[0]
    assert first.high is not None
    assert first.low is not None
    return first.high - first.low


def test_ballots_count_to_the_same_tally() -> None:
    tally = Ballots.of(ballots_of_xyz()).tally
    for counts in ("wins", "ties", "both_bad"):
        assert (getattr(tally, counts) == getattr(HALF, counts)).all()


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
