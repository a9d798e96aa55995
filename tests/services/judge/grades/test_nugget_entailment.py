"""Which nuggets are asked about, by which passages, and what is kept of the answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.event import BattleAssigned, BattleGraded
from nuggetstream.domain.grade import Grade, Subject, SubjectKind, ValueProbability
from nuggetstream.domain.nugget import Provenance
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.grades.nugget_entailment import EVALUATOR, prompt
from services.judge.registry import heuristics
from services.offline.answers import ParsedPrompt, answer
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

STORED = {"c-left": "Tides follow the moon.", "c-right": "The moon is far away."}


async def stored(chunk_ids: Sequence[str]) -> dict[str, str]:
    return {chunk_id: STORED[chunk_id] for chunk_id in chunk_ids if chunk_id in STORED}


def of_nuggets(*read: Sequence[str]) -> BattleAssigned:
    """A battle whose nuggets v0, v1 and so on were read in these documents."""
    event = samples.assigned(0, 0, of=len(read))
    nuggets = tuple(
        replace(nugget, provenance=tuple(Provenance(each) for each in own))
        for nugget, own in zip(event.nugget_list.nuggets, read, strict=True)
    )
    return replace(event, nugget_list=replace(event.nugget_list, nuggets=nuggets))


async def graded(
    event: BattleAssigned, chat: Any, decisions: Any = None
) -> tuple[ScriptedModel, list[Grade]]:
    model = ScriptedModel({"nugget_entailment": chat, "nugget_entailment_decision": decisions})
    deciding = None if decisions is None else model
    (found,) = await panel_of(EVALUATOR, model, decisions=deciding, texts_of=stored)(event)
    assert isinstance(found, BattleGraded)
    return model, list(found.grading.grades)


async def test_each_nugget_is_graded_by_the_passages_that_it_names() -> None:
    reply = GradesReply(
        grades=[GradeLine(name="n1", value=1, reason="c1 says so."), GradeLine(name="n3", value=-1)]
    )
    event = of_nuggets(["answer:a", "c-left"], ["answer:b"], ["c-right", "c-left"], ["c-deleted"])
    model, grades = await graded(event, lambda _: reply)
    (asked,) = model.asked
    assert [(block.id, block.text) for block in blocks(asked, "chunk")] == [
        ("c1", STORED["c-left"]),
        ("c2", STORED["c-right"]),
    ]
    assert [block.id for block in blocks(asked, "nugget")] == ["n1", "n3"]
    assert asked.parameters == (("passages", "n1: c1; n3: c2, c1"),)
    assert [(grade.subject, grade.value, grade.label, grade.reason) for grade in grades] == [
        (Subject(SubjectKind.NUGGET, item="v0"), 1, "entailed", "c1 says so."),
        (Subject(SubjectKind.NUGGET, item="v2"), -1, "contradicted", None),
    ]
    assert {(grade.confidence, grade.probabilities, grade.expected) for grade in grades} == {(None, (), None)}


async def test_without_a_stored_passage_there_is_no_grade_and_no_call() -> None:
    model, grades = await graded(of_nuggets(["answer:a"], ["c-deleted"], []), None)
    assert (model.asked, grades) == ([], [])


async def test_a_model_for_decisions_is_asked_and_what_it_declines_is_asked_again() -> None:
    decided = DecisionReply(
        answers=[
            Answer(name="n1", letter="e", probabilities={"e": 0.75, "n": 0.25, "c": 0.0}),
            Answer(name="n2", letter=None),
            Answer(name="n3", letter="c"),
        ]
    )
    chat = GradesReply(grades=[GradeLine(name="n2", value=0, reason="It says nothing of it.")])
    model, (first, second, third) = await graded(
        of_nuggets(["c-left"], ["c-right"], ["c-left"]), lambda _: chat, lambda _: decided
    )
    assert model.tasks() == ["nugget_entailment_decision", "nugget_entailment"]
    assert [question.text for question in model.asked[0].questions] == [
        "Do its passages (c1) entail nugget n1?",
        "Do its passages (c2) entail nugget n2?",
        "Do its passages (c1) entail nugget n3?",
    ]
    assert [block.id for block in blocks(model.asked[1], "nugget")] == ["n2"]
    assert (first.label, first.confidence, first.expected) == ("entailed", 0.75, 0.75)
    assert first.probabilities == (
        ValueProbability(1, 0.75),
        ValueProbability(0, 0.25),
        ValueProbability(-1, 0.0),
    )
    assert (second.label, second.confidence, second.reason) == ("neutral", None, "It says nothing of it.")
    assert (third.label, third.confidence, third.probabilities) == ("contradicted", None, ())


@pytest.mark.parametrize(
    ("nugget", "value"),
    [("Tides follow the moon.", 1), ("Whales eat krill.", 0), ("The bridge has 9 arches.", -1)],
)
def test_the_offline_model_compares_words_and_numbers(nugget: str, value: int) -> None:
    passages = {"c1": "Tides follow the moon. The bridge has 7 arches."}
    asked = prompt({"n1": nugget}, passages, {"n1": ["c1"]})
    parsed = ParsedPrompt.read(asked.messages()[1]["content"], None)
    reply = answer("nugget_entailment", parsed, heuristics)
    assert isinstance(reply, GradesReply)
    assert [line.value for line in reply.grades] == [value]
