"""The page about adding an evaluator, followed: its code grades a battle, and judges one."""

from typing import Any

import pytest
from pydantic import ValidationError

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleGraded, BattleJudged
from services.cli.wiring.settings import PipelineSettings
from services.judge.stage import build
from services.offline.answers import ParsedPrompt, answer
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.wire.evaluators import EVALUATORS, Registered, Yields
from tests import recipes, samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of


async def test_the_evaluator_of_the_page_grades_a_battle(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EVALUATORS, "politeness", Registered(Yields.GRADES))
    evaluator = recipes.module("services/judge/grades/politeness.py").EVALUATOR
    model = ScriptedModel(
        {
            task: lambda prompt: answer(
                prompt.task,
                ParsedPrompt.read(prompt.messages()[1]["content"], None),
                lambda: evaluator.offline,
            )
            for task in evaluator.offline
        }
    )
    stage = build(panel_of(evaluator, model), Blobs(record))
    event = samples.retrieved(fought=samples.battle(a="Thank you for asking.", b="No."))
    (graded,) = await stage.handle(event)
    assert isinstance(graded, BattleGraded)
    assert [(grade.subject.sides[0], grade.value) for grade in graded.grading.grades] == [("a", 5), ("b", 3)]
    assert (graded.grading.evaluator, graded.grading.prompt_version) == ("politeness", "politeness-1")
    assert stage.consumer.durable == "grader-politeness"


def supported(prompt: Prompt[Any]) -> VerdictReply:
    """Prefers the answer that a passage holds word for word."""
    passages = {block.text for block in blocks(prompt, "chunk")}
    first, second = (block.text in passages for block in blocks(prompt, "answer"))
    winner = "tie" if first == second else "first" if first else "second"
    return VerdictReply(reasoning="The passages say so.", winner=winner)


async def test_the_judge_of_the_page_judges_a_battle(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EVALUATORS, "faithful", Registered(Yields.VERDICT))
    name = PipelineSettings(judge_evaluator="faithful").judge_evaluator
    judge = recipes.module(f"services/judge/verdicts/{name}.py").EVALUATOR
    model = ScriptedModel({"verdict": supported})
    stage = build(panel_of(judge, model, awaited=True), Blobs(record))
    event = samples.retrieved(fought=samples.battle(a="Passage number 1.", b="Something else."))
    (judged,) = await stage.handle(event)
    assert isinstance(judged, BattleJudged)
    judgment = judged.judgment
    assert (judgment.evaluator, judgment.prompt_version) == ("faithful", "faithful-1")
    assert (judgment.winner, judgment.flipped, judgment.additional) == (Vote.A, False, False)
    assert [prompt.version for prompt in model.asked] == ["faithful-1", "faithful-1"]
    assert stage.consumer.durable == "judge"


def test_a_judge_that_is_not_in_the_table_is_rejected_with_those_that_are() -> None:
    with pytest.raises(ValidationError, match="there is no evaluator 'faithful'; choose one of pairwise"):
        PipelineSettings(judge_evaluator="faithful")
    with pytest.raises(ValidationError, match="choose one of pairwise, pairwise_documents, utility"):
        PipelineSettings(judge_evaluator="nugget_guided")
