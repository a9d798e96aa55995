"""A verdict in both orders: what stands, what is a tie, and what is no verdict at all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged, BattleRetrieved
from nuggetstream.domain.failure import Reason
from services.judge.stage import Panel
from services.runtime.errors import Permanent
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from services.runtime.metrics import FLIPS
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import judge_of, panel_of


def judge_that(decides: Callable[[str, str], str]) -> ScriptedModel:
    """Decides by what was shown first and second."""

    def reply(prompt: Prompt[Any]) -> VerdictReply:
        first, second = blocks(prompt, "answer")
        return VerdictReply(reasoning=f" {first.text} came first ", winner=decides(first.text, second.text))

    return ScriptedModel({"verdict": reply})


LONGER = judge_that(lambda first, second: "first" if len(first) > len(second) else "second")
FIRST = judge_that(lambda first, second: "first")
TIE = judge_that(lambda first, second: "tie")
EVENT = samples.retrieved(fought=samples.battle(a="short", b="much longer"))


async def run(judge: Panel, event: BattleRetrieved = EVENT) -> BattleJudged:
    (out,) = await judge(event)
    assert isinstance(out, BattleJudged)
    return out


@pytest.mark.parametrize(
    ("model", "winner", "flipped"), [(LONGER, Vote.B, False), (FIRST, Vote.TIE, True), (TIE, Vote.TIE, False)]
)
async def test_agreement_stands_and_a_flip_is_a_recorded_tie(
    model: ScriptedModel, winner: Vote, flipped: bool
) -> None:
    counter = FLIPS.labels(str(flipped).lower())
    before = counter._value.get()
    judgment = (await run(judge_of(model))).judgment
    assert (judgment.winner, judgment.flipped) == (winner, flipped)
    assert [verdict.first for verdict in judgment.verdicts] == [Side.A, Side.B]
    assert [verdict.reasoning for verdict in judgment.verdicts] == [
        "short came first",
        "much longer came first",
    ]
    assert counter._value.get() == before + 1


async def test_each_verdict_names_the_side_and_not_the_place() -> None:
    judgment = (await run(judge_of(FIRST))).judgment
    assert [verdict.winner for verdict in judgment.verdicts] == [Vote.A, Vote.B]


async def test_one_order_is_seeded_by_the_event_and_says_nothing_about_flips() -> None:
    async def first_of(key: str) -> Side:
        judgment = (await run(judge_of(LONGER, both_orders=False), replace(EVENT, key=key))).judgment
        assert (judgment.winner, judgment.flipped, len(judgment.verdicts)) == (Vote.B, None, 1)
        return judgment.verdicts[0].first

    firsts = [await first_of(str(key)) for key in range(40)]
    assert firsts == [await first_of(str(key)) for key in range(40)]
    assert 10 < firsts.count(Side.A) < 30


@pytest.mark.parametrize(("passages", "shown"), [(0, 0), (1, 1), (10, 2)])
async def test_the_judge_sees_so_many_passages(passages: int, shown: int) -> None:
    model = replace(TIE, asked=[])
    await run(judge_of(model, passages=passages))
    assert [len(blocks(prompt, "chunk")) for prompt in model.asked] == [shown, shown]


async def test_the_judge_sees_so_many_characters_of_them() -> None:
    model = replace(TIE, asked=[])
    texts = ["Cookies help us to serve you.", "Sign up now, please. Tea is a much longer story."]
    evidence = [replace(item, text=text) for item, text in zip(EVENT.evidence, texts, strict=True)]
    await run(judge_of(model, characters=40), replace(EVENT, evidence=tuple(evidence)))
    shown = [[block.text for block in blocks(prompt, "chunk")] for prompt in model.asked]
    assert shown == [["Tea is a much longer story."]] * 2


async def test_two_empty_answers_are_nothing_to_judge_and_no_tie() -> None:
    model = replace(TIE, asked=[])
    with pytest.raises(Permanent) as raised:
        await judge_of(model)(samples.retrieved(fought=samples.battle(a="", b=" ")))
    assert raised.value.reason is Reason.NOTHING_TO_SCORE
    assert model.asked == []


async def test_one_empty_answer_is_judged() -> None:
    assert (
        await run(judge_of(LONGER), samples.retrieved(fought=samples.battle(a="")))
    ).judgment.winner is Vote.B


async def test_the_same_event_gives_the_same_and_any_other_judge_another_key() -> None:
    judge = judge_of(LONGER)
    first = await run(judge)
    assert await run(judge) == first
    others = [
        judge_of(replace(LONGER, name="other")),
        judge_of(replace(LONGER, reworded=True)),
        panel_of(replace(judge.evaluator, name="utility"), LONGER, awaited=True),
        replace(judge, both_orders=False),
        replace(judge, passages=3),
        replace(judge, characters=300),
    ]
    keys = {(await run(other)).key for other in others} | {(await run(judge, replace(EVENT, key="k"))).key}
    assert len({first.key, *keys}) == 8
