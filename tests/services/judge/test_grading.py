"""One evaluator in its stage: what it publishes, whom it grades, and that its failure is its own."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleFailed, BattleGraded, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.grade import Criterion, Subject
from nuggetstream.domain.pipeline import Stage
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.options import GradeOptions, Selection, read_options
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel, build
from services.runtime.bus import Bus
from services.runtime.errors import BudgetExceeded
from services.runtime.runner import Runner
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.wire.evaluators import require_evaluators
from services.wire.topology import consumers
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

NAMES = ("relevance", "accuracy", "completeness", "precision")
QUALITY = EVALUATORS["answer_quality"]
CRITERIA = tuple(Criterion(name, "0-2", 0, 2) for name in NAMES)
EVENT = samples.retrieved()


def model_that_gives(value: int) -> ScriptedModel:
    reply = GradesReply(grades=[GradeLine(name=name, value=value, reason="So it is.") for name in NAMES])
    return ScriptedModel({"answer_quality": lambda prompt: reply})


async def run(grader: Panel, event: object = EVENT) -> BattleGraded:
    (graded,) = await grader(event)  # type: ignore[arg-type]
    assert isinstance(graded, BattleGraded)
    return graded


async def test_every_answer_gets_every_grade_with_its_reason() -> None:
    model = model_that_gives(2)
    graded = await run(panel_of(QUALITY, model))
    grading = graded.grading
    assert (graded.battle_id, graded.arena) == (EVENT.battle.id, EVENT.battle.arena)
    assert (grading.evaluator, grading.model) == ("answer_quality", "scripted-2026")
    assert grading.prompt_version == "answer-quality-1"
    assert [(grade.subject, grade.criterion, grade.value) for grade in grading.grades] == [
        (Subject.answer(side), name, 2.0) for side in Side for name in NAMES
    ]
    assert {grade.reason for grade in grading.grades} == {"So it is."}
    assert {grade.confidence for grade in grading.grades} == {None}
    assert [blocks(prompt, "answer")[0].text for prompt in model.asked] == [
        EVENT.battle.a.text,
        EVENT.battle.b.text,
    ]


async def test_an_empty_answer_has_no_grade_and_two_have_none_without_a_call() -> None:
    model = model_that_gives(1)
    one = await run(panel_of(QUALITY, model), samples.retrieved(fought=samples.battle(a=" ")))
    assert {grade.subject.sides for grade in one.grading.grades} == {(Side.B,)}
    model.asked.clear()
    none = await run(panel_of(QUALITY, model), samples.retrieved(fought=samples.battle(a="", b="")))
    assert (none.grading.grades, none.grading.criteria, model.asked) == ((), CRITERIA, [])


async def test_the_same_event_gives_the_same_key_and_any_other_grader_another() -> None:
    grader = panel_of(QUALITY, model_that_gives(1))
    first = await run(grader)
    assert await run(grader) == first
    others = [
        panel_of(QUALITY, replace(model_that_gives(1), name="other")),
        panel_of(QUALITY, replace(model_that_gives(1), reworded=True)),
        replace(grader, passages=1),
        replace(grader, evaluator=replace(QUALITY, name="twin")),
    ]
    keys = {(await run(other)).key for other in others} | {(await run(grader, replace(EVENT, key="k"))).key}
    assert len({first.key, *keys}) == 6


@pytest.mark.parametrize("value", [3, -1])
async def test_a_value_off_its_scale_is_no_grade(value: int) -> None:
    with pytest.raises(ValueError, match=f"relevance: {value} is no whole number from 0 to 2"):
        await run(panel_of(QUALITY, model_that_gives(value)))


async def test_a_battle_that_is_not_selected_costs_nothing() -> None:
    model = model_that_gives(1)
    assert await panel_of(QUALITY, model, options=GradeOptions(arenas=frozenset({"other"})))(EVENT) == []
    assert model.asked == []


async def test_an_evaluator_whose_budget_is_used_up_makes_no_call() -> None:
    async def exhausted() -> str | None:
        return "10 of 10 tokens"

    model = model_that_gives(1)
    with pytest.raises(BudgetExceeded, match="answer_quality has used 10 of 10 tokens"):
        await panel_of(QUALITY, model, exhausted=exhausted)(EVENT)
    assert model.asked == []


async def test_a_failure_names_the_evaluator_and_its_calls_are_booked_under_its_name(
    record: Database,
) -> None:
    stage = build(panel_of(QUALITY, model_that_gives(1)), Blobs(record))
    assert stage.label == stage.consumer.durable == "grader-answer_quality"
    said: list[Event] = list(stage.give_up(EVENT, StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "declined")))
    (failed,) = said
    assert isinstance(failed, BattleFailed)
    assert (failed.failure.stage, failed.failure.evaluator) == (Stage.GRADER, "answer_quality")


async def test_a_running_evaluator_reports_its_messages_in_flight_under_the_name_of_its_consumer(
    bus: Bus, record: Database
) -> None:
    """The alert that no process runs a stage compares this name with the names of the consumers."""
    name = "language_quality"
    stage = build(panel_of(name, model_that_gives(1)), Blobs(record))
    Runner(bus, stage)
    assert stage.consumer in consumers([name])
    labels = {"stage": stage.consumer.durable}
    assert REGISTRY.get_sample_value("nuggetstream_in_flight", labels) == 0


def test_a_share_selects_the_same_battles_every_time_and_smaller_shares_a_part_of_them() -> None:
    battles = [samples.battle(f"b{number}") for number in range(400)]

    def selected(share: float) -> set[str]:
        return {battle.id for battle in battles if Selection(share=share).includes(battle, None)}

    assert selected(0) == set()
    assert selected(1) == {battle.id for battle in battles}
    assert selected(0.1) < selected(0.5)
    assert selected(0.5) == selected(0.5)
    assert 120 < len(selected(0.5)) < 280


@pytest.mark.parametrize(
    ("selection", "included"),
    [
        (Selection(), True),
        (Selection(arenas=frozenset({"default"})), True),
        (Selection(tags=frozenset({"x", "science"})), True),
        (Selection(tags=frozenset({"x"})), False),
        (Selection(languages=("de",)), True),
        (Selection(languages=("DE-at",)), True),
        (Selection(languages=("d", "en")), False),
    ],
)
def test_filters_select_by_arena_tag_and_language(selection: Selection, included: bool) -> None:
    battle = replace(samples.battle(), tags=("science",), language="de-AT")
    assert selection.includes(battle, battle.language) is included


async def test_a_language_that_is_not_declared_is_detected_and_an_unknown_one_is_no_language() -> None:
    def asking(query: str) -> BattleRetrieved:
        return samples.retrieved(fought=replace(samples.battle(), query=query))

    grader = panel_of(QUALITY, model_that_gives(1), options=GradeOptions(languages=("de",)))
    assert await grader(asking("Woraus wird eigentlich grüner Tee gemacht?"))
    assert await grader(asking("What is green tea actually made of?")) == []
    assert await grader(asking("Tee?")) == []


def test_selections_are_read_from_a_file_and_a_wrong_one_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "evaluators.toml"
    file.write_text('[answer_quality]\nshare = 0.5\nlanguages = ["de"]\nday_money = "2.50"\n')
    types = {"answer_quality": GradeOptions}
    assert read_options(file, types) == {
        "answer_quality": GradeOptions(share=0.5, languages=("de",), day_money=Decimal("2.50"))
    }
    for wrong in ("[answer_quality]\nshares = 0.5\n", "[answer_quality]\nshare = 2\n", "share"):
        file.write_text(wrong)
        with pytest.raises(ValueError, match=r"shares|less than or equal to 1|Expected '='"):
            read_options(file, types)


@pytest.mark.parametrize(
    ("names", "problem"),
    [(["quality"], "no evaluator 'quality'; choose of"), (["rubric", "rubric"], "is named twice")],
)
def test_an_unknown_or_repeated_evaluator_is_rejected(names: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        require_evaluators(names)
