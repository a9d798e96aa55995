"""The evaluator `rubric`: questions, grades with what was found, coverage, verification, passages."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Grade, Grading, Subject, SubjectKind
from nuggetstream.domain.question_bank import BankKind, BankQuestion, question_id
from nuggetstream.files.rubric import read_graded
from services.judge.grades.bank import QuestionsReply
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.grades.rubric import Rubric, RubricOptions, prompt
from services.judge.question_banks import QuestionBanks
from services.judge.registry import EVALUATORS
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.parsing import read_reply
from services.runtime.llm.prompt import Prompt
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

RUBRIC = EVALUATORS["rubric"]
ASKED = ("What is tea?", "Who drinks it?", "When was it found?", "Where does it grow?")
LEAVES, DRINK = "Tea is made of leaves.", "Tea is a drink."
EVENT = samples.retrieved(2, fought=samples.battle(a=LEAVES, b=DRINK))
GRADES = {LEAVES: (5, 4, 3, 0), DRINK: (4, 0, 0, 0)}


def grades(prompt: Prompt[Any]) -> GradesReply:
    """The grades of GRADES; of a chunk 1 for every question."""
    text = blocks(prompt, "answer", "chunk")[-1].text
    names = [block.id for block in blocks(prompt, "question", "nugget")]
    values = [GRADES.get(text, (1, 1, 1, 1))[int(name[1:]) - 1] for name in names]
    return GradesReply(
        grades=[
            GradeLine(name=name, value=value, reason=f"It says {name}." if value else None)
            for name, value in zip(names, values, strict=True)
        ]
    )


def verified(prompt: Prompt[Any]) -> GradesReply:
    """The first finding is right, the others are not."""
    names = [block.id for block in blocks(prompt, "finding")]
    return GradesReply(grades=[GradeLine(name=name, value=float(name == "f1")) for name in names])


def decided(prompt: Prompt[Any]) -> DecisionReply:
    told = {"y": 0.25, "n": 0.75}
    return DecisionReply(
        answers=[Answer(name=b.id, letter="n", probabilities=told) for b in blocks(prompt, "finding")]
    )


def model(asked: tuple[str, ...] = ASKED) -> ScriptedModel:
    def bank(prompt: Prompt[Any]) -> QuestionsReply:
        return QuestionsReply(questions=list(asked))

    return ScriptedModel(
        {
            "rubric_questions": bank,
            "rubric_nuggets": bank,
            "rubric": grades,
            "rubric_verify": verified,
            "rubric_verify_decision": decided,
        }
    )


async def run(model: ScriptedModel, options: RubricOptions, **more: Any) -> Grading:
    (found,) = await panel_of(RUBRIC, model, options=options, **more)(more.pop("event", EVENT))
    assert isinstance(found, BattleGraded)
    return found.grading


def of(grading: Grading, criterion: str, where: Callable[[Grade], bool] = lambda _: True) -> list[Grade]:
    return [grade for grade in grading.grades if grade.criterion == criterion and where(grade)]


async def test_both_answers_are_graded_on_every_question_of_one_bank() -> None:
    asked = model()
    grading = await run(asked, RubricOptions())
    assert asked.tasks() == ["rubric_questions", "rubric", "rubric"]
    assert (grading.model, grading.prompt_version) == ("scripted-2026", "rubric-1")
    bank = grading.bank
    assert bank is not None
    assert [question.text for question in bank.questions] == list(ASKED)
    assert (bank.version, bank.kind, bank.model) == (1, BankKind.QUESTIONS, "scripted-2026")
    ids = [question.id for question in bank.questions]
    found = of(grading, "answered")
    assert [(g.subject.item, g.subject.sides, g.value) for g in found] == [
        (name, (side,), float(GRADES[text][place]))
        for place, name in enumerate(ids)
        for side, text in ((Side.A, LEAVES), (Side.B, DRINK))
    ]
    assert [g.reason for g in found[:2]] == ["It says q1.", "It says q1."]
    assert found[-1].reason is None
    assert [(g.subject, g.value) for g in of(grading, "coverage")] == [
        (Subject.answer(Side.A), 0.5),
        (Subject.answer(Side.B), 0.25),
    ]
    assert of(grading, "coverage")[0].reason == "2 of 4 have a grade of at least 4"


async def test_the_prompts_of_all_texts_begin_alike() -> None:
    asked = model()
    await run(asked, RubricOptions(passages=True))
    texts = [prompt.messages()[1]["content"] for prompt in asked.asked if prompt.task == "rubric"]
    same = texts[0][: texts[0].index(ASKED[-1]) + len(ASKED[-1])]
    assert len(texts) == 4
    assert all(text.startswith(same) for text in texts)
    assert len({prompt.prompt_cache_key() for prompt in asked.asked if prompt.task == "rubric"}) == 1


async def test_a_bank_can_be_made_before_the_battles_that_are_graded_on_it() -> None:
    asked = model()
    panel = panel_of(RUBRIC, asked)
    bank = await panel.bank(EVENT)
    assert asked.tasks() == ["rubric_questions"]
    assert bank is not None
    given = await replace(panel, banks=QuestionBanks(given=bank)).evaluated(EVENT)
    assert isinstance(given, Grading)
    assert given.bank is bank
    assert asked.tasks() == ["rubric_questions", "rubric", "rubric"]
    assert await panel_of("direct", asked).bank(EVENT) is None
    assert await panel_of("pairwise", asked).bank(EVENT) is None


async def test_retrieved_passages_are_graded_where_that_is_configured() -> None:
    grading = await run(model(), RubricOptions(passages=True))
    chunks = of(grading, "answered", lambda g: g.subject.kind is SubjectKind.DOCUMENT)
    assert {g.subject.document for g in chunks} == {chunk.chunk_id for chunk in EVENT.evidence}
    assert len(chunks) == 2 * len(ASKED)
    assert {g.value for g in chunks} == {1.0}


async def test_each_question_can_be_asked_in_a_call_of_its_own() -> None:
    asked = model()
    one = await run(asked, RubricOptions(per_question=True))
    assert asked.tasks() == ["rubric_questions", *["rubric"] * 8]
    assert one.grades == (await run(model(), RubricOptions())).grades


async def test_what_was_found_is_verified_and_the_coverage_stays() -> None:
    asked = model()
    grading = await run(asked, RubricOptions(verify=True))
    assert asked.tasks() == ["rubric_questions", "rubric", "rubric_verify", "rubric", "rubric_verify"]
    assert [len(blocks(p, "finding")) for p in asked.asked if p.task == "rubric_verify"] == [3, 1]
    said = [(g.subject.sides, g.label, g.value) for g in of(grading, "verified")]
    assert said == [
        ((Side.A,), "yes", 1.0),
        ((Side.B,), "yes", 1.0),
        ((Side.A,), "no", 0.0),
        ((Side.A,), "no", 0.0),
    ]
    assert [g.value for g in of(grading, "coverage")] == [0.5, 0.25]


async def test_a_model_for_decisions_verifies_with_probabilities() -> None:
    asked = model()
    grading = await run(asked, RubricOptions(verify=True), decisions=asked)
    assert "rubric_verify" not in asked.tasks()
    assert {(g.label, g.confidence, g.expected) for g in of(grading, "verified")} == {("no", 0.75, 0.25)}


async def test_key_facts_can_be_graded_instead_of_questions() -> None:
    asked = model()
    grading = await run(asked, RubricOptions(items=BankKind.NUGGETS, number=4))
    assert asked.tasks()[0] == "rubric_nuggets"
    assert "limit: 4" in asked.asked[0].messages()[1]["content"]
    assert [block.id for block in blocks(asked.asked[1], "nugget")] == ["n1", "n2", "n3", "n4"]
    assert grading.bank is not None
    assert grading.bank.kind is BankKind.NUGGETS


async def test_empty_answers_cost_nothing_and_have_no_grade() -> None:
    asked = model()
    (found,) = await panel_of(RUBRIC, asked, options=RubricOptions())(
        samples.retrieved(fought=samples.battle("b", "", " "))
    )
    assert isinstance(found, BattleGraded)
    assert (found.grading.grades, found.grading.bank, asked.asked) == ((), None, [])


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        (("Why?", " why? "), "there are 1 different questions; write 10"),
        (tuple(f"Why {n}?" for n in range(11)), "there are 11 different questions; write 10"),
        (("Why?", "W" * 401), "a question has 401 characters"),
    ],
)
async def test_a_bank_that_is_no_exam_is_rejected(questions: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        await run(model(questions), RubricOptions())


async def test_options_and_questions_are_part_of_the_event_key() -> None:
    async def key(asked: ScriptedModel, options: RubricOptions) -> str:
        (found,) = await panel_of(RUBRIC, asked, options=options)(EVENT)
        assert isinstance(found, BattleGraded)
        return found.key

    first = await key(model(), RubricOptions())
    assert await key(model(), RubricOptions(share=0.99, day_tokens=5)) == first
    others = {await key(model(), RubricOptions(passages=True)), await key(model(), RubricOptions(number=5))}
    assert len({first, *others}) == 3


@pytest.mark.parametrize("name", ["questions", "nuggets"])
def test_ids_are_those_of_the_autograding_workbench(name: str, recorded_data: Path) -> None:
    kind = name[:-1]
    packed = (recorded_data / "rubric" / f"dl19-{name}.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    items = [item for line in lines for item in json.loads(line)["items"]]
    assert len(items) > 400
    for item in items:
        assert question_id(item["query_id"], item[f"{kind}_text"]) == item[f"{kind}_id"]


def test_the_recorded_self_ratings_of_the_workbench_are_read_by_the_live_parser(recorded_data: Path) -> None:
    """500 passages of TREC DL 2019, as replies to this evaluator with the recorded texts as reasons."""
    passages = read_graded(recorded_data / "rubric" / "dl19-graded.jsonl.gz")[:500]
    read: Counter[int] = Counter()
    for passage in passages:
        names = {f"q{number}": item for number, item in enumerate(passage.grades, start=1)}
        questions = {name: BankQuestion(item, item) for name, item in names.items()}
        rubric = Rubric("query", questions, "question")
        asked = prompt(rubric, list(names), Block("answer", "a", "text"), ["text"])
        said = {name: " ".join(passage.replies.get(item, "").split()) for name, item in names.items()}
        lines = [f"{name} {passage.grades[item]}: {said[name]}" for name, item in names.items()]
        reply = read_reply(json.dumps({"grades": lines}), asked)
        assert {line.name: line.value for line in reply.grades} == {
            name: passage.grades[item] for name, item in names.items()
        }
        assert {line.name: line.reason or "" for line in reply.grades} == said
        read.update(int(line.value) for line in reply.grades)
    assert read == Counter(grade for passage in passages for grade in passage.grades.values())
    assert read.total() > 4500
    assert len(read) == 6  # every grade of the scale occurs


async def test_a_grade_off_the_scale_or_missing_is_rejected() -> None:
    asked = model()
    asked.script = {**asked.script, "rubric": lambda p: GradesReply(grades=grades(p).grades[:-1])}
    with pytest.raises(ValueError, match="missing ids: q4"):
        await run(asked, RubricOptions())
    six = [GradeLine(name=f"q{n}", value=6) for n in range(1, 5)]
    asked.script = {**asked.script, "rubric": lambda _: GradesReply(grades=six)}
    with pytest.raises(ValueError, match="q1: 6 is no whole number from 0 to 5"):
        await run(asked, RubricOptions())


async def test_the_same_answer_read_by_another_model_is_another_event() -> None:
    first, other = model(), replace(model(), name="other")
    keys = {
        (await panel_of(RUBRIC, asked, options=RubricOptions())(EVENT))[0].key for asked in (first, other)
    }
    assert len(keys) == 2
