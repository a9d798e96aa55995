"""What an outcome tells about its judge: the model, the position that it favours, and the longer answer."""

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged
from nuggetstream.domain.judgment import Judgment, MemberVerdict, OrderedVerdict, combine_orders
from nuggetstream.domain.model_family import family_of
from services.store.outcomes.stated_outcomes import outcomes_of
from tests import samples
from tests.samples import NOON


def judged(a_first: Vote, b_first: Vote | None, a: str = "tea", b: str = "teas") -> BattleJudged:
    said = [OrderedVerdict(Side.A, a_first, None)]
    said += [] if b_first is None else [OrderedVerdict(Side.B, b_first, None)]
    winner, flipped = combine_orders(said)
    judgment = Judgment(
        evaluator="pairwise",
        winner=winner,
        flipped=flipped,
        verdicts=tuple(said),
        model="gpt-5",
        prompt_version="1",
    )
    return BattleJudged("k", samples.battle(a=a, b=b), judgment)


@pytest.mark.parametrize(
    ("a_first", "b_first", "favoured"),
    [
        (Vote.A, Vote.B, 1),  # the first in both orders
        (Vote.B, Vote.A, -1),
        (Vote.A, Vote.TIE, 1),
        (Vote.TIE, Vote.A, -1),
        (Vote.A, Vote.A, 0),
        (Vote.TIE, Vote.TIE, 0),
        (Vote.A, None, None),
    ],
)
def test_a_verdict_that_changes_with_the_order_favours_a_position(
    a_first: Vote, b_first: Vote | None, favoured: int | None
) -> None:
    (outcome,) = outcomes_of(judged(a_first, b_first), NOON)
    assert (outcome.judge_model, outcome.favoured) == ("gpt-5", favoured)


@pytest.mark.parametrize(
    ("a", "b", "longer"),
    [("tea", "teas", -1), ("teas", "tea", 1), ("tea", "cup", 0), ("tea", "", 2), ("te", "teas", -2)],
)
def test_the_longer_answer_is_told_apart_from_one_at_least_twice_as_long(a: str, b: str, longer: int) -> None:
    (outcome,) = outcomes_of(judged(Vote.A, Vote.A, a, b), NOON)
    assert outcome.longer == longer


def test_of_a_panel_the_members_are_measured() -> None:
    said = judged(Vote.A, Vote.B).judgment
    members = tuple(
        MemberVerdict(name=name, model=name, winner=said.winner, flipped=True, verdicts=said.verdicts)
        for name in ("x", "y")
    )
    panel = Judgment(
        evaluator="panel",
        winner=Vote.TIE,
        flipped=None,
        verdicts=(),
        model="x, y",
        prompt_version="1",
        members=members,
    )
    outcomes = outcomes_of(BattleJudged("k", samples.battle(), panel), NOON)
    assert [(each.judge_model, each.favoured) for each in outcomes] == [(None, None), ("x", 1), ("y", 1)]


def test_a_vote_has_no_model_and_nuggets_have_that_of_their_labels() -> None:
    for event, model in ((samples.voted(Vote.A), None), (samples.assigned(1, 0, of=1), "m")):
        (outcome,) = outcomes_of(event, NOON)
        assert (outcome.judge_model, outcome.favoured, outcome.longer) == (model, None, None)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "openai"),
        ("o3", "openai"),
        ("openrouter/anthropic/claude-sonnet-4", "anthropic"),
        ("Qwen2.5-72B", "alibaba"),
        ("phi-4", "microsoft"),
        ("philosopher", None),
        ("o3ny", None),
        ("offline-heuristic", None),
    ],
)
def test_a_family_is_known_by_the_beginning_of_a_name(name: str, family: str | None) -> None:
    assert family_of(name) == family
