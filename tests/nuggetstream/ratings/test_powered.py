"""People beside a judge: the sections of a board."""

from collections.abc import Mapping

import numpy as np
import pytest
from nuggetstream.ratings.board import Method
from nuggetstream.ratings.powered import NothingShared, power

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.votes import VoteSource
from nuggetstream.ratings.interval import Extent
from nuggetstream.ratings.options import Anchor
from nuggetstream.ratings.tally import TiePolicy
from tests.voted import source, vote

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
