"""Boards: who is ranked and who is not and why, anchors, policies for ties."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Anchor, AnchorNotRanked
from nuggetstream.ratings.standing import BoardState, Unrankable
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.rated import rate
from tests.nuggetstream.ratings.xyz import HALF, XYZ, ballots_of_xyz
from tests.voted import ranked

BATTLES = [Ballot(*pair, vote) for pair in ("wx", "yz") for vote in (Vote.A, Vote.B)]


def tally_of(*entries: tuple[str, str, Vote]) -> Tally:
    return Tally.count((a, b, winner, 1) for a, b, winner in entries)


def test_an_undefeated_system_is_not_rankable_and_the_rest_is() -> None:
    tally = tally_of(("x", "y", Vote.A), ("x", "y", Vote.B), ("best", "x", Vote.A), ("worst", "y", Vote.B))
    board = {s.system: s for s in ranked(tally, seed=0).standings}
    assert board["best"].unrankable is Unrankable.UNDEFEATED
    assert board["best"].rating is None
    assert board["worst"].unrankable is Unrankable.WINLESS
    assert board["x"].rating is not None


def test_a_battle_that_does_not_count_ranks_nobody() -> None:
    tally = tally_of(("x", "y", Vote.BOTH_BAD))
    board = ranked(tally, seed=0, policy=TiePolicy.DROP_BOTH_BAD)
    assert {s.unrankable for s in board.standings} == {Unrankable.NO_BATTLES}


def test_no_battles_give_an_empty_board() -> None:
    assert ranked(Tally.count([]), seed=0).standings == ()


def test_everybody_tied_is_equal_and_shares_the_first_place() -> None:
    ratings = rate(np.zeros((2, 2)), np.array([[0.0, 8.0], [8.0, 0.0]]), np.random.default_rng(0))
    assert ratings.rating == pytest.approx([1000, 1000])
    assert ratings.probability_first == pytest.approx([0.5, 0.5])


def test_a_board_of_ties_alone_has_ratings_and_says_nothing_of_how_sure_they_are() -> None:
    board = ranked(tally_of(("x", "y", Vote.TIE), ("x", "y", Vote.TIE)), seed=0)
    found = [(s.rating, s.rank, s.low, s.high, s.probability_first) for s in board.standings]
    assert found == [(pytest.approx(1000), None, None, None, None)] * 2


def test_a_system_that_only_tied_with_the_anchor_has_no_interval_and_the_anchor_has() -> None:
    votes = [("x", "y", Vote.TIE)] * 3 + [("y", "z", Vote.A), ("y", "z", Vote.B), ("z", "y", Vote.A)]
    board = ranked(tally_of(*votes), seed=0, anchor=Anchor("y", 1100.0))
    ends = {s.system: (s.low is None, s.probability_first is None) for s in board.standings}
    assert ends == {"x": (True, True), "y": (False, False), "z": (False, False)}


@pytest.mark.parametrize("policy", TiePolicy)
def test_single_ballots_rate_like_their_counts(policy: TiePolicy) -> None:
    counted = ranked(HALF, seed=0, policy=policy, resamples=4000)
    single = ranked(Ballots.of(ballots_of_xyz()), seed=1, policy=policy, resamples=4000)
    for one, other in zip(counted.standings, single.standings, strict=True):
        assert one.system == other.system
        assert one.rating == pytest.approx(other.rating)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=25)


def test_the_anchor_has_its_rating_and_no_width() -> None:
    board = ranked(HALF, seed=0, anchor=Anchor("y", 1114))
    anchor = next(s for s in board.standings if s.system == "y")
    assert (anchor.rating, anchor.low, anchor.high) == (1114, 1114, 1114)
    free = {s.system: s.rating for s in ranked(HALF, seed=0).standings}
    for standing in board.standings:
        assert standing.rating == pytest.approx(free[standing.system] - free["y"] + 1114)


def test_an_anchor_without_a_rating_is_an_error() -> None:
    tally = Tally.count([*XYZ, ("best", "x", Vote.A, 1)])
    for name in ("best", "nobody"):
        with pytest.raises(AnchorNotRanked, match=name):
            ranked(tally, seed=0, anchor=Anchor(name, 1000))


def test_everybody_always_tied_leaves_a_model_of_ties_without_an_answer() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 8), ("y", "z", Vote.TIE, 3)])
    for policy in (TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER):
        board = ranked(tally, seed=0, policy=policy)
        assert {s.unrankable for s in board.standings} == {Unrankable.UNDETERMINED}
        assert board.tie_parameter is None
    assert {s.rating for s in ranked(tally, seed=0).standings} == {1000}


def test_the_policy_and_its_parameter_are_part_of_the_board() -> None:
    board = ranked(HALF, seed=0, policy=TiePolicy.DAVIDSON)
    assert board.options.policy is TiePolicy.DAVIDSON
    assert board.tie_parameter is not None
    assert board.tie_parameter > 0
    assert ranked(HALF, seed=0).tie_parameter is None


def test_those_without_a_rating_stand_in_the_order_of_their_names_whatever_the_reason() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 2), ("z", "y", Vote.A, 1)])
    standings = ranked(tally, seed=0, policy=TiePolicy.DAVIDSON).standings
    undetermined = Unrankable.UNDETERMINED
    assert [(s.system, s.unrankable) for s in standings] == [
        ("x", undetermined),
        ("y", undetermined),
        ("z", Unrankable.UNDEFEATED),
    ]


@pytest.mark.parametrize("policy", TiePolicy)
def test_a_board_gives_a_reason_instead_of_a_number(policy: TiePolicy) -> None:
    def reasons(*votes: Ballot, systems: str = "") -> list[Unrankable | None]:
        board = ranked(Ballots.of(votes, systems or None), seed=0, policy=policy, resamples=20)
        assert all((s.rating is None) == (s.unrankable is not None) for s in board.standings)
        return [s.unrankable for s in board.standings]

    assert reasons() == []
    assert reasons(systems="w") == [Unrankable.NO_BATTLES]
    assert reasons(Ballot("w", "x", Vote.A)) == [Unrankable.UNDEFEATED, Unrankable.WINLESS]
    assert reasons(*BATTLES) == [None, None, Unrankable.DISCONNECTED, Unrankable.DISCONNECTED]
    ties = reasons(Ballot("w", "x", Vote.TIE), Ballot("w", "x", Vote.TIE))
    expected = {TiePolicy.HALF: None, TiePolicy.DROP_BOTH_BAD: None, TiePolicy.DROP: Unrankable.NO_BATTLES}
    assert ties == [expected.get(policy, Unrankable.UNDETERMINED)] * 2


def test_where_nobody_is_ranked_there_is_no_scale_to_fix() -> None:
    for policy, vote in ((TiePolicy.HALF, Vote.A), (TiePolicy.DAVIDSON, Vote.TIE)):
        board = ranked(Tally.count([("w", "x", vote, 2)]), policy=policy, anchor=Anchor("w", 1000))
        assert board.options.anchor is None
        assert board.state is BoardState.NOBODY_RANKED
