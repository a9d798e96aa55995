"""Human votes beside a judge's, from two files, matched by battle."""

from collections.abc import Mapping

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.votes import VoteSource
from nuggetstream.ratings.combined import Combined, combine
from nuggetstream.ratings.combined_standing import CombinedStanding, EstimateState
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.options import Anchor, InvalidOption, Options
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.ratings.study.matching import NothingShared, matched
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.ratings.win_rates import WinRates, win_rates
from tests.voted import source, vote

JUDGE: Mapping[str, Vote] = dict(zip("12345678", map(Vote, "abaaabaa"), strict=True))
PEOPLE: Mapping[str, Vote] = dict(zip("1234", map(Vote, "abab"), strict=True))


def cast(name: str, votes: Mapping[str, Vote], a: str = "x", b: str = "y") -> VoteSource:
    rows = (vote(a, b, outcome, battle=battle) for battle, outcome in votes.items())
    return source(*rows, name=name).source


def joined(human: VoteSource, automatic: VoteSource, policy: TiePolicy = TiePolicy.HALF) -> JointVotes:
    return matched(human, automatic, policy)


def rate_of(votes: JointVotes, system: str) -> WinRates:
    (rate,) = (rate for rate in win_rates(votes) if rate.system == system)
    return rate


def standing_of(combined: Combined, system: str) -> CombinedStanding:
    (standing,) = (standing for standing in combined.standings if standing.system == system)
    return standing


def test_people_correct_the_judge_as_worked_out_by_hand() -> None:
    """Points of x: people 1 0 1 0, the judge 1 0 1 1 there and 1 0 1 1 elsewhere; λ = 7/18."""
    votes = joined(cast("people", PEOPLE), cast("judge", JUDGE))
    rate = rate_of(votes, "x")
    assert rate.human is not None
    assert rate.automatic is not None
    assert rate.combined is not None
    assert (rate.human.value, rate.automatic.value) == (0.5, 0.75)
    assert rate.combined.value == pytest.approx(0.5 - 7 / 18 * 0.75 + 7 / 18 * 0.75)
    assert rate.tuning == pytest.approx(7 / 18)
    assert (rate.both, rate.automatic_only) == (4, 4)
    assert (votes.both, votes.automatics, votes.humans) == (4, 8, 4)


def test_it_does_not_matter_who_was_shown_first() -> None:
    swap = {Vote.A: Vote.B, Vote.B: Vote.A}
    turned = cast("people", {battle: swap[outcome] for battle, outcome in PEOPLE.items()}, "y", "x")
    judge = cast("judge", JUDGE)
    first, second = joined(turned, judge), joined(cast("people", PEOPLE), judge)
    assert combine(first).standings == combine(second).standings
    assert win_rates(first) == win_rates(second)


def test_several_votes_on_one_battle_are_their_mean() -> None:
    votes = [vote("x", "y", Vote.A, 3, battle="1"), vote("y", "x", Vote.A, battle="1")]
    votes += [vote("x", "y", Vote.TIE, battle="2")]
    rate = rate_of(joined(source(*votes).source, cast("judge", JUDGE)), "x")
    assert rate.human is not None
    assert rate.human.value == pytest.approx((0.75 + 0.5) / 2)


def test_battles_only_people_voted_on_are_left_out_and_counted() -> None:
    people = cast("people", {**PEOPLE, "99": Vote.A})
    votes = joined(people, cast("judge", JUDGE))
    assert (votes.humans, votes.both) == (5, 4)
    assert combine(votes).human_votes_unused == 1


def test_ties_are_left_out_when_the_policy_drops_them() -> None:
    people = cast("people", {**PEOPLE, "5": Vote.TIE, "6": Vote.BOTH_BAD})
    judge = cast("judge", JUDGE)
    counts = {policy: joined(people, judge, policy).both for policy in list(TiePolicy)[:3]}
    assert counts == {TiePolicy.HALF: 6, TiePolicy.DROP_BOTH_BAD: 5, TiePolicy.DROP: 4}


def test_a_judge_that_agrees_with_people_makes_the_interval_narrower() -> None:
    rng = np.random.default_rng(5)
    truth = {str(battle): Vote.A if rng.random() < 0.6 else Vote.B for battle in range(400)}
    people = {battle: outcome for battle, outcome in truth.items() if int(battle) < 60}
    votes = joined(cast("people", people), cast("judge", truth))
    combined = combine(votes, Options(anchor=Anchor("y", 1000.0)))
    x = standing_of(combined, "x")
    widths = []
    for rating in (x.human, x.combined, x.automatic):
        assert rating is not None
        low, high = rating.low, rating.high
        assert low is not None
        assert high is not None
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1]
    assert widths[1] >= widths[2]
    fixed = standing_of(combined, "y").combined
    assert fixed is not None
    assert fixed.interval_state is IntervalState.FIXED


def test_what_too_few_or_one_sided_votes_do_not_tell_is_none_with_a_state() -> None:
    judge = cast("judge", JUDGE)
    one = joined(cast("people", {"1": Vote.A}), judge)
    assert rate_of(one, "x").combined is None
    assert (rate_of(one, "x").both, rate_of(one, "x").automatic_only) == (1, 7)
    assert combine(one).state is EstimateState.TOO_FEW_VOTES
    agreed = joined(cast("people", {"1": Vote.A, "3": Vote.A, "4": Vote.A}), judge)
    rate = rate_of(agreed, "x").human
    assert rate is not None
    assert rate.value == 1.0
    assert rate.low == pytest.approx(3 / (3 + 1.959964**2))  # Wilson's: three alike are no certainty
    assert standing_of(combine(agreed), "x").human is None
    assert combine(agreed).human.state is EstimateState.NOT_LINKED


def test_systems_the_judge_cannot_rank_have_its_reason() -> None:
    judge = source(
        *(vote("x", "y", outcome, battle=battle) for battle, outcome in JUDGE.items()),
        vote("up", "x", Vote.A, battle="u1"),
        vote("up", "x", Vote.A, battle="u2"),
    ).source
    votes = joined(cast("people", PEOPLE), judge)
    last = combine(votes).standings[-1]
    assert last.system == "up"
    assert last.unrankable is not None
    assert last.unrankable.value == "never lost or tied: only a lower bound exists"
    assert (last.human_battles, last.automatic_battles) == (0, 2)
    assert rate_of(votes, "up").human is None


def test_files_that_share_no_battle_or_mean_another_by_it_are_rejected() -> None:
    judge = cast("judge", JUDGE)
    with pytest.raises(NothingShared, match="is --battle right"):
        joined(cast("people", {"other": Vote.A}), judge)
    with pytest.raises(UnusableFile, match="battle '1' is x against y here and x against z at"):
        joined(cast("people", PEOPLE, "x", "z"), judge)
    with pytest.raises(InvalidOption, match="not davidson"):
        joined(cast("people", PEOPLE), judge, TiePolicy.DAVIDSON)
