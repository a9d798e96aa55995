"""Battles with the same query are graded on the same questions, which are stored, versioned and deleted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nuggetstream.domain.event import BattleGraded, BattleRetrieved
from nuggetstream.domain.question_bank import BankKind, QuestionBank
from services.judge.grades.bank import QuestionsReply
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.grades.rubric import RubricOptions
from services.judge.question_banks import QuestionBanks
from services.runtime.claims import Claims
from services.runtime.llm.prompt import Prompt, PromptOverrides
from services.runtime.single_writer import SingleWriter
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.content.question_banks import StoredQuestionBanks
from services.store.database import Database
from services.store.work.claims import DatabaseClaims
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of
from tests.samples import NOON
from tests.stored import LATER, evaluate, places_of

PROMPTS = PromptOverrides({"rubric_questions.txt": "Ask {limit} hard questions."})


def asks(prompt: Prompt[Any]) -> QuestionsReply:
    """Questions that have the query in them."""
    [query] = blocks(prompt, "query")
    return QuestionsReply(questions=[f"Why: {query.text}", f"When: {query.text}"])


def grades(prompt: Prompt[Any]) -> GradesReply:
    names = [block.id for block in blocks(prompt, "question", "nugget")]
    return GradesReply(grades=[GradeLine(name=name, value=3) for name in names])


def scripted() -> ScriptedModel:
    return ScriptedModel({"rubric_questions": asks, "rubric_nuggets": asks, "rubric": grades})


@dataclass
class Process:
    """The evaluator in one process."""

    database: Database
    model: ScriptedModel = field(default_factory=scripted)
    claims: Callable[[], Claims] = Claims
    overrides: PromptOverrides = field(default_factory=PromptOverrides)
    banks: QuestionBanks = field(init=False)

    def __post_init__(self) -> None:
        writer = SingleWriter(self.claims())
        stored = StoredQuestionBanks(self.database)
        self.banks = QuestionBanks(stored, self.overrides, writer, clock=lambda: NOON)

    async def graded(self, event: BattleRetrieved, **options: Any) -> BattleGraded:
        grader = panel_of("rubric", self.model, options=RubricOptions(**options), banks=self.banks)
        (found,) = await grader(event)
        assert isinstance(found, BattleGraded)
        return found

    async def bank(self, event: BattleRetrieved, **options: Any) -> QuestionBank:
        bank = (await self.graded(event, **options)).grading.bank
        assert bank is not None
        return bank


def battle(name: str, query: str = "What is tea?") -> BattleRetrieved:
    fought = replace(samples.battle(name, "Leaves.", "A drink."), query=query)
    return samples.retrieved(key=f"retrieved {name}", fought=fought)


def made(model: ScriptedModel) -> int:
    """How many banks were asked for."""
    return sum(task != "rubric" for task in model.tasks())


async def test_the_same_query_has_the_same_bank_and_another_query_another(database: Database) -> None:
    process = Process(database)
    first = await process.bank(battle("b1"))
    assert (first.version, first.created_at, first.model) == (1, NOON, "scripted-2026")
    assert first.prompt_version == "rubric-bank-1"
    assert await process.bank(battle("b2", "  what IS tea?")) == first
    assert made(process.model) == 1
    assert (await process.bank(battle("b3", "What is coffee?"))).query_id != first.query_id
    assert made(process.model) == 2


async def test_the_turns_before_a_query_make_a_version_of_their_own_that_battles_with_them_share(
    database: Database,
) -> None:
    process, single = Process(database), battle("b1")
    first = await process.bank(single)
    for name in ("b2", "b3"):
        later = replace(single, battle=replace(single.battle, id=name, conversation=samples.TURNS))
        assert (await process.bank(later)).version == first.version + 1
    assert made(process.model) == 2
    assert await process.bank(battle("b4")) == first


async def test_what_a_bank_depends_on_makes_a_new_version_and_earlier_ones_stay(database: Database) -> None:
    process = Process(database)
    first = await process.bank(battle("b1"))
    more = await process.bank(battle("b2"), number=5)
    other = await Process(database, replace(scripted(), name="other")).bank(battle("b3"))
    worded = await Process(database, overrides=PROMPTS).bank(battle("b4"))
    assert [bank.version for bank in (first, more, other, worded)] == [1, 2, 3, 4]
    assert (await process.bank(battle("b5"))).version == 1
    assert (await process.bank(battle("b6"), share=0.999)).version == 1
    facts = await process.bank(battle("b7"), items=BankKind.NUGGETS)
    assert (facts.version, facts.kind) == (1, BankKind.NUGGETS)


async def test_a_battle_delivered_again_is_the_same_event(database: Database) -> None:
    process = Process(database)
    first = await process.graded(battle("b1"))
    assert await process.graded(battle("b1")) == first
    assert made(process.model) == 1


async def test_a_failed_bank_is_not_stored(database: Database) -> None:
    process = Process(database)
    working = process.model.script
    process.model.script = {**working, "rubric_questions": lambda _: QuestionsReply(questions=[])}
    with pytest.raises(ValueError, match="different questions"):
        await process.bank(battle("b1"))
    process.model.script = working
    assert (await process.bank(battle("b1"))).version == 1


async def test_battles_that_meet_at_once_pay_for_one_bank(database: Database) -> None:
    process = Process(database)
    found = await asyncio.gather(*(process.bank(battle(f"b{number}")) for number in range(6)))
    assert made(process.model) == 1
    assert len({bank.version for bank in found}) == 1


async def test_two_processes_that_meet_the_same_query_pay_once(postgres: Database) -> None:
    model = scripted()
    processes = [Process(postgres, model, lambda: Claims(DatabaseClaims(postgres))) for _ in range(2)]
    events = [battle("b1"), battle("b2")]
    found = await asyncio.gather(
        *(process.bank(event) for process, event in zip(processes, events, strict=True))
    )
    assert made(model) == 1
    assert found[0] == found[1]


async def test_versions_that_two_processes_make_at_once_have_different_numbers(database: Database) -> None:
    models = [replace(scripted(), name=f"m{number}") for number in range(4)]
    found = await asyncio.gather(*(Process(database, model).bank(battle(model.name)) for model in models))
    assert sorted(bank.version for bank in found) == [1, 2, 3, 4]


async def test_a_bank_is_deleted_with_the_last_battle_that_uses_it(database: Database) -> None:
    process = Process(database)
    for name in ("oolong", "sencha"):
        await evaluate(database, name, f"All about {name}.")
        await process.bank(battle(name, "Where does tea of oolong grow?"))
    assert "question_banks" in {place.split(".")[0] for place in await places_of(database, "oolong")}
    assert await Deletions(database).delete("oolong", LATER) is DeletionResult.DELETED
    await process.bank(battle("gunpowder", "Where does tea of oolong grow?"))
    assert made(process.model) == 1  # another battle used it
    await evaluate(database, "gunpowder", "All about gunpowder.")
    for name in ("sencha", "gunpowder"):
        await Deletions(database).delete(name, LATER)
    assert {place.split(".")[0] for place in await places_of(database, "oolong")} == {"deletions"}
    async with database.transaction() as tx:
        assert (await tx.exec_driver_sql("SELECT count(*) FROM question_banks")).scalar() == 0
