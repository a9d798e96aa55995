"""The page about adding an evaluator, followed: its code grades a battle."""

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from nuggetstream.domain.event import BattleGraded, BattleRetrieved
from services.judge.graders.evaluator import Evaluator
from services.judge.grading import Grader, build
from services.offline.answers import ParsedPrompt, answer
from services.store.blobs import Blobs
from services.store.database import Database
from services.wire.evaluators import GRADERS
from tests import samples
from tests.fakes import ScriptedModel

PAGE = Path(__file__).parents[4] / "docs" / "adding-an-evaluator.md"


def evaluator_of_the_page() -> Evaluator:
    (code,) = re.findall(r"```python\n(.*?)\n *```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    written = ModuleType("services.judge.graders.politeness")
    exec(compile(dedent("   " + code.removeprefix("   ")), str(PAGE), "exec"), vars(written))
    evaluator = written.EVALUATOR
    assert isinstance(evaluator, Evaluator)
    return evaluator


async def test_the_evaluator_of_the_page_grades_a_battle(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GRADERS, "politeness", BattleRetrieved)
    evaluator = evaluator_of_the_page()
    model = ScriptedModel(
        {
            task: lambda prompt: answer(
                prompt.task,
                ParsedPrompt.read(prompt.messages()[1]["content"], None),
                lambda: evaluator.offline,
            )
            for task in evaluator.tasks
        }
    )
    stage = build(Grader(model, evaluator), Blobs(record))
    event = samples.retrieved(fought=samples.battle(a="Thank you for asking.", b="No."))
    (graded,) = await stage.handle(event)
    assert isinstance(graded, BattleGraded)
    assert [(grade.subject.sides[0], grade.value) for grade in graded.grading.grades] == [("a", 5), ("b", 3)]
    assert (graded.grading.evaluator, graded.grading.prompt_version) == ("politeness", "politeness-1")
    assert stage.consumer.durable == "grader-politeness"
