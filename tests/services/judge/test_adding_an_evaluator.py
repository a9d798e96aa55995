"""The recipe of CONTRIBUTING, followed: an evaluator is one function and one line in a table."""

from typing import Any

import pytest
from pydantic import ValidationError

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleJudged, BattleRetrieved
from services.cli.settings import PipelineSettings
from services.judge.evaluators import EVALUATORS
from services.judge.stage import Judge, build
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from services.store.blobs import Blobs
from services.store.database import Database
from services.wire.evaluators import JUDGES
from tests import recipes, samples
from tests.fakes import ScriptedModel, blocks

EVENT = samples.retrieved(fought=samples.battle(a="Passage number 1.", b="Something else."))


@pytest.fixture
def faithful(monkeypatch: pytest.MonkeyPatch) -> str:
    """The evaluator of the recipe, in the table for the length of a test."""
    module = recipes.module("services/judge/faithful.py")
    entry = recipes.entry("services/judge/evaluators.py", "EVALUATORS", vars(module))
    for name, evaluator in entry.items():
        monkeypatch.setitem(EVALUATORS, name, evaluator)
        monkeypatch.setitem(JUDGES, name, BattleRetrieved)
    (name,) = entry
    return str(name)


def supported(prompt: Prompt[Any]) -> VerdictReply:
    """Prefers the answer that a passage holds word for word."""
    passages = {block.text for block in blocks(prompt, "chunk")}
    first, second = (block.text in passages for block in blocks(prompt, "answer"))
    winner = "tie" if first == second else "first" if first else "second"
    return VerdictReply(reasoning="The passages say so.", winner=winner)


async def test_the_judge_gets_its_verdict_from_a_new_evaluator(faithful: str, record: Database) -> None:
    model = ScriptedModel({"verdict": supported})
    name = PipelineSettings(judge_evaluator=faithful).judge_evaluator
    judge = Judge(model=model, evaluator=name, prompt=EVALUATORS[name])
    (event,) = await build(judge, Blobs(record)).handle(EVENT)
    assert isinstance(event, BattleJudged)
    assert event.judgment.evaluator == "faithful"
    assert event.judgment.prompt_version == "faithful-1"
    assert (event.judgment.winner, event.judgment.flipped) == (Vote.A, False)
    assert [prompt.version for prompt in model.asked] == ["faithful-1", "faithful-1"]
    assert all("no passage supports" in prompt.instructions for prompt in model.asked)


async def test_two_evaluators_give_a_battle_two_verdicts_with_keys_of_their_own(faithful: str) -> None:
    model = ScriptedModel({"verdict": supported})
    judged = [
        (await Judge(model=model, evaluator=name, prompt=EVALUATORS[name])(EVENT))[0]
        for name in ("pairwise", faithful)
    ]
    assert len({event.key for event in judged}) == 2


def test_an_evaluator_that_is_not_in_the_table_is_rejected_with_those_that_are() -> None:
    with pytest.raises(ValidationError, match="there is no evaluator 'faithful'; choose one of pairwise"):
        PipelineSettings(judge_evaluator="faithful")
