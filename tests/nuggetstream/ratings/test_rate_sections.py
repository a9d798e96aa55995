"""What is asked beside a board: what to ask next, tournaments, equal style, people beside a judge."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.votes import CastVote, VoteSource
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.board import Method
from nuggetstream.ratings.casting import poll, systems_of
from nuggetstream.ratings.elo import Arithmetic
from nuggetstream.ratings.interval import Extent
from nuggetstream.ratings.leaderboard import Anchor
from nuggetstream.ratings.powered import NothingShared, power
from nuggetstream.ratings.style import Styled, at_equal_style
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.ratings.tournament import Played, play
from tests.voted import board, source, three_systems, vote


def test_advice_names_neighbours_in_order_and_the_battles_they_need() -> None:
    rated = board(three_systems())
    advised = advise(rated.fitted, 0.95)
    order = [standing.system for standing in rated.standings]
    assert [(pair.system, pair.opponent) for pair in advised.neighbours] == list(pairwise(order))
    assert all(pair.needed is None or pair.needed > 0 for pair in advised.neighbours)
    assert len(advised.next) == 3
    worth = [pair.shrinkage for pair in advised.next]
    assert worth == sorted(worth, reverse=True)
    assert 0 < worth[0] < 1


def test_equals_are_not_told_apart_by_any_number_of_battles() -> None:
    even = board(source(vote("x", "y", Vote.A, 20), vote("x", "y", Vote.B, 20)))
    assert [pair.needed for pair in advise(even.fitted, 0.95).neighbours] == [None]


def test_a_gap_that_never_varies_is_not_called_settled() -> None:
    shares = [vote("x", "y", 0.7, 5), vote("y", "z", Vote.A, 6), vote("y", "z", Vote.B, 4)]
    found = {pair.opponent: pair for pair in advise(board(source(*shares)).fitted, 0.95).neighbours}
    assert (found["y"].needed, found["y"].missing) == (None, "nothing varies")
    assert found["z"].needed is not None


def played(
    *votes: CastVote,
    arithmetic: Arithmetic = Arithmetic.FLOAT,
    rounds: int = 5,
    policy: TiePolicy = TiePolicy.HALF,
) -> Played:
    sources = (source(*votes),)
    return play(poll(sources, systems_of(sources, ["new"])), policy, arithmetic, rounds=rounds, k=32, seed=1)


def test_one_game_moves_half_of_k_and_who_did_not_play_has_no_rating() -> None:
    found = played(vote("x", "y", Vote.A))
    assert [(p.system, p.rating, p.games) for p in found.players] == [
        ("x", 1016.0, 1),
        ("y", 984.0, 1),
        ("new", None, 0),
    ]


def test_a_single_tournament_does_not_tell_the_luck_of_the_order() -> None:
    votes = [vote("x", "y", Vote.A, 3), vote("x", "y", Vote.B, 2)]
    assert {p.deviation for p in played(*votes, rounds=1).players if p.games} == {None}
    assert all((p.deviation or 0) > 0 for p in played(*votes, rounds=50).players if p.games)


def test_ragelo_keeps_whole_numbers_and_the_sum_sinks() -> None:
    votes = [vote("x", "y", Vote.A, 9), vote("x", "y", Vote.B, 4)]
    floats, whole = (played(*votes, arithmetic=each) for each in (Arithmetic.FLOAT, Arithmetic.RAGELO))
    assert sum(p.rating or 0 for p in floats.players) == pytest.approx(2000)
    ratings = [p.rating for p in whole.players if p.rating is not None]
    assert all(rating % 1 == 0 for rating in ratings)
    assert sum(ratings) < 2000


@pytest.mark.parametrize(
    ("votes", "more", "why"),
    [
        ([vote("x", "y", Vote.A, weight=0.5), vote("x", "y", Vote.B)], {}, "different weight"),
        ([vote("x", "y", Vote.TIE)], {"policy": TiePolicy.DROP}, "no game to play"),
        ([vote("x", "y", Vote.A, 1000)], {"rounds": 10**6}, "too many to hold; --rounds 268435 would fit"),
    ],
)
def test_games_that_cannot_be_played_say_why(
    votes: Sequence[CastVote], more: dict[str, Any], why: str
) -> None:
    found = played(*votes, **more)
    assert found.players == ()
    assert why in str(found.missing)


def styled(votes: Sequence[CastVote], policy: TiePolicy = TiePolicy.HALF) -> Styled:
    sources = (source(*votes),)
    return at_equal_style(poll(sources, systems_of(sources)), sources, ["words"], Method(policy=policy))


def liking_length(count: int = 40) -> list[CastVote]:
    """Whoever writes more wins, three times in four; x writes more in most battles."""
    rng = np.random.default_rng(3)
    votes = []
    for _ in range(count):
        long_x, longer_wins = rng.random() < 0.8, rng.random() < 0.75
        a, b = (30.0, 10.0) if long_x else (10.0, 30.0)
        outcome = Vote.A if long_x == longer_wins else Vote.B
        votes.append(vote("x", "y", outcome, style_a=(a,), style_b=(b,)))
    return votes


def test_at_equal_length_the_longer_writer_is_no_longer_ahead() -> None:
    votes = liking_length(400)
    plain = board(source(*votes)).standings[0]
    found = styled(votes)
    x = next(each for each in found.systems if each.system == "x")
    (length,) = found.coefficients
    assert plain.system == "x"
    assert plain.interval.low is not None
    assert plain.interval.low > 1000
    assert x.interval.low is not None
    assert x.interval.low < 1000
    assert length.feature == "words"
    assert length.low is not None
    assert length.low > 0


def test_style_that_decides_everything_or_is_the_system_has_no_answer() -> None:
    always = [vote("x", "y", Vote.A, 4, style_a=(3.0,), style_b=(1.0,))]
    assert styled(always).missing == "no two systems can be ranked yet"
    confounded = [*always, vote("x", "y", Vote.B, 2, style_a=(3.0,), style_b=(1.0,))]
    assert "collinear" in str(styled(confounded).missing)
    perfect = [
        vote("x", "y", Vote.A, 9, style_a=(3.0,), style_b=(1.0,)),
        vote("x", "y", Vote.B, 9, style_a=(1.0,), style_b=(3.0,)),
    ]
    assert "style predicts the votes perfectly" in str(styled(perfect).missing)
    assert "not for davidson" in str(styled(liking_length(), policy=TiePolicy.DAVIDSON).missing)


JUDGE: Mapping[str, Vote] = dict(zip("12345678", map(Vote, "abaaabaa"), strict=True))
PEOPLE: Mapping[str, Vote] = dict(zip("1234", map(Vote, "abab"), strict=True))


def said(name: str, votes: Mapping[str, Vote], a: str = "x", b: str = "y") -> VoteSource:
    return source(*(vote(a, b, each, battle=battle) for battle, each in votes.items()), name=name).source


def test_people_correct_the_judge_as_worked_out_by_hand() -> None:
    """Points of x: people 1 0 1 0, the judge 1 0 1 1 there and 1 0 1 1 elsewhere; λ = 7/18."""
    found = power(said("people", PEOPLE), said("judge", JUDGE), Method())
    rate = found.rates["x"]
    assert rate.human is not None
    assert rate.automatic is not None
    assert rate.combined is not None
    assert (rate.human.value, rate.automatic.value) == (0.5, 0.75)
    assert rate.combined.value == pytest.approx(0.5 - 7 / 18 * 0.75 + 7 / 18 * 0.75)
    assert rate.trust == pytest.approx(7 / 18)
    assert (rate.humans, rate.automatics) == (4, 4)
    assert (found.humans, found.automatics, found.unmatched) == (4, 4, 0)


def test_it_does_not_matter_who_was_shown_first() -> None:
    swap = {Vote.A: Vote.B, Vote.B: Vote.A}
    turned = said("people", {battle: swap[each] for battle, each in PEOPLE.items()}, "y", "x")
    judge = said("judge", JUDGE)
    assert power(turned, judge, Method()) == power(said("people", PEOPLE), judge, Method())


def test_several_votes_on_one_battle_are_their_mean() -> None:
    votes = [vote("x", "y", Vote.A, 3, battle="1"), vote("y", "x", Vote.A, battle="1")]
    votes += [vote("x", "y", Vote.TIE, battle="2")]
    rate = power(source(*votes).source, said("judge", JUDGE), Method()).rates["x"]
    assert rate.human is not None
    assert rate.human.value == pytest.approx((0.75 + 0.5) / 2)


def test_battles_only_people_saw_are_left_out_and_counted() -> None:
    people = said("people", {**PEOPLE, "99": Vote.A})
    assert power(people, said("judge", JUDGE), Method()).unmatched == 1


def test_ties_are_left_out_when_the_policy_drops_them() -> None:
    people = said("people", {**PEOPLE, "5": Vote.TIE, "6": Vote.BOTH_BAD})
    judge = said("judge", JUDGE)
    counts = {policy: power(people, judge, Method(policy=policy)).humans for policy in list(TiePolicy)[:3]}
    assert counts == {TiePolicy.HALF: 6, TiePolicy.DROP_BOTH_BAD: 5, TiePolicy.DROP: 4}


def test_a_judge_that_agrees_with_people_makes_the_interval_narrower() -> None:
    rng = np.random.default_rng(5)
    truth = {str(battle): Vote.A if rng.random() < 0.6 else Vote.B for battle in range(400)}
    people = {battle: each for battle, each in truth.items() if int(battle) < 60}
    found = power(said("people", people), said("judge", truth), Method(anchor=Anchor("y", 1000.0)))
    rating = found.ratings["x"]
    widths = []
    for each in (rating.human, rating.combined, rating.automatic):
        assert each is not None
        assert each.interval.low is not None
        assert each.interval.high is not None
        widths.append(each.interval.high - each.interval.low)
    assert widths[0] > 1.5 * widths[1]
    assert widths[1] >= widths[2]
    fixed = found.ratings["y"].combined
    assert fixed is not None
    assert fixed.interval.extent is Extent.FIXED


def test_what_too_few_or_one_sided_votes_do_not_tell_is_none_with_a_reason() -> None:
    judge = said("judge", JUDGE)
    one = power(said("people", {"1": Vote.A}), judge, Method())
    assert one.rates["x"].combined is None
    assert one.rates["x"].missing == "fewer than two battles have both votes"
    assert "fewer than two battles" in str(one.ratings["x"].missing)
    assert (one.ratings["x"].humans, one.ratings["x"].automatics) == (1, 7)
    agreed = power(said("people", {"1": Vote.A, "3": Vote.A, "4": Vote.A}), judge, Method())
    rate = agreed.rates["x"].human
    assert rate is not None
    assert rate.value == 1.0
    assert rate.interval.low == pytest.approx(3 / (3 + 1.959964**2))  # Wilson's: three alike are no certainty
    assert agreed.ratings["x"].human is None
    assert "the human votes alone cannot rank these systems" in agreed.notes


def test_systems_the_judge_cannot_rank_have_its_reason() -> None:
    judge = source(
        *(vote("x", "y", each, battle=battle) for battle, each in JUDGE.items()),
        vote("up", "x", Vote.A, battle="u1"),
        vote("up", "x", Vote.A, battle="u2"),
    ).source
    found = power(said("people", PEOPLE), judge, Method())
    assert list(found.ratings)[-1] == "up"
    assert found.ratings["up"].missing == "never lost or tied: only a lower bound exists"
    assert (found.ratings["up"].humans, found.ratings["up"].automatics) == (0, 2)
    assert found.rates["up"].missing == "fewer than two battles have both votes"


def test_files_that_share_no_battle_or_mean_another_by_it_are_refused() -> None:
    judge = said("judge", JUDGE)
    with pytest.raises(NothingShared, match="is --battle right"):
        power(said("people", {"other": Vote.A}), judge, Method())
    with pytest.raises(UnusableFile, match="battle '1' is x against y here and x against z at"):
        power(said("people", PEOPLE, "x", "z"), judge, Method())
    with pytest.raises(ValueError, match="not davidson"):
        power(said("people", PEOPLE), judge, Method(policy=TiePolicy.DAVIDSON))
