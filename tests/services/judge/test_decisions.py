"""Verdicts by decisions: with probabilities by side, and by chat where the model declines to decide."""

from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.judgment import VoteProbabilities
from services.judge.options import VerdictOptions
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import judge_of

EVENT = samples.retrieved(fought=samples.battle(a="short", b="much longer"))


def decider(letter: str | None, told: dict[str, float] | None) -> ScriptedModel:
    def reply(prompt: Prompt[Any]) -> DecisionReply:
        return DecisionReply(answers=[Answer(name="better", letter=letter, probabilities=told)])

    return ScriptedModel({"verdict_decision": reply}, name="decider")


def says_second(prompt: Prompt[Any]) -> VerdictReply:
    return VerdictReply(reasoning="It is longer.", winner="second")


async def test_probabilities_belong_to_sides_and_not_to_places() -> None:
    model = decider("f", {"f": 0.6, "s": 0.3, "t": 0.1})
    [out] = await judge_of(ScriptedModel({}), decisions=model)(EVENT)
    judgment = out.judgment
    assert [(verdict.first, verdict.winner) for verdict in judgment.verdicts] == [
        (Side.A, Vote.A),
        (Side.B, Vote.B),
    ]
    assert judgment.verdicts[1].probabilities == VoteProbabilities(a=0.3, b=0.6, tie=0.1)
    assert (judgment.winner, judgment.flipped) == (Vote.TIE, True)
    mean = judgment.probabilities
    assert mean is not None
    assert (mean.a, mean.b, mean.tie) == pytest.approx((0.45, 0.45, 0.1))
    assert [verdict.reasoning for verdict in judgment.verdicts] == [None, None]
    assert judgment.model == "decider-2026"


async def test_without_probabilities_in_every_order_there_are_none_for_the_battle() -> None:
    [out] = await judge_of(ScriptedModel({}), decisions=decider("t", None))(EVENT)
    assert out.judgment.winner is Vote.TIE
    assert out.judgment.probabilities is None


async def test_what_is_declined_is_asked_by_chat() -> None:
    chat = ScriptedModel({"verdict": says_second})
    [out] = await judge_of(chat, decisions=decider(None, None))(EVENT)
    assert [verdict.winner for verdict in out.judgment.verdicts] == [Vote.B, Vote.A]
    assert out.judgment.verdicts[0].reasoning == "It is longer."
    assert len(chat.asked) == 2


async def test_the_model_sees_the_passages_and_both_answers() -> None:
    model = decider("t", None)
    await judge_of(ScriptedModel({}), decisions=model, passages=1)(EVENT)
    assert [[block.kind for block in blocks(p, "query", "chunk", "answer")] for p in model.asked] == [
        ["query", "chunk", "answer", "answer"]
    ] * 2


async def test_a_tie_band_makes_close_probabilities_a_tie() -> None:
    def close(prompt: Prompt[Any]) -> DecisionReply:
        """A is preferred a little, wherever it is shown."""
        first = blocks(prompt, "answer")[0].text == "short"
        told = {"f": 0.5, "s": 0.4, "t": 0.1} if first else {"f": 0.4, "s": 0.5, "t": 0.1}
        return DecisionReply(
            answers=[Answer(name="better", letter="f" if first else "s", probabilities=told)]
        )

    model = ScriptedModel({"verdict_decision": close}, name="decider")
    keys = set()
    for band, winner in ((None, Vote.A), (0.05, Vote.A), (0.1, Vote.TIE)):
        [out] = await judge_of(ScriptedModel({}), decisions=model, options=VerdictOptions(tie_band=band))(
            EVENT
        )
        assert (out.judgment.winner, out.judgment.tie_band) == (winner, band)
        assert out.judgment.flipped is False
        keys.add(out.key)
    assert len(keys) == 3
    [untold] = await judge_of(
        ScriptedModel({}), decisions=decider("t", None), options=VerdictOptions(tie_band=0.5)
    )(EVENT)
    assert (untold.judgment.winner, untold.judgment.tie_band) == (Vote.TIE, None)


async def test_a_verdict_of_two_models_names_both() -> None:
    def one_order(prompt: Prompt[Any]) -> DecisionReply:
        is_first = blocks(prompt, "answer")[0].text == "short"
        return DecisionReply(answers=[Answer(name="better", letter="f" if is_first else None)])

    chat = ScriptedModel({"verdict": says_second}, name="writer")
    model = ScriptedModel({"verdict_decision": one_order}, name="decider")
    [mixed] = await judge_of(chat, decisions=model)(EVENT)
    assert len(chat.asked) == 1
    assert mixed.judgment.model == "decider-2026, writer-2026"
    versions = {model.asked[0].version, chat.asked[0].version}
    assert set(mixed.judgment.prompt_version.split("+")) == versions
    [declined] = await judge_of(chat, decisions=decider(None, None))(EVENT)
    assert declined.judgment.model == "writer-2026"
