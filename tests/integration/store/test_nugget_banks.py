"""Battles with the same query and the same evidence share one nugget list, and equal answers share labels."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from nuggetstream.domain.battle import Answer, Battle, Side
from nuggetstream.domain.conversation import Role, Turn
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, BattleRetrieved
from nuggetstream.domain.nugget import OTHER_ANSWER, Cause, Importance, MergedNugget
from nuggetstream.nuggets.explanation import cause_of
from services.assigner.shared_labels import SharedLabels
from services.assigner.stage import Assigner
from services.nuggetizer.bank import NuggetBank
from services.nuggetizer.documents import NuggetSources
from services.nuggetizer.stage import Nuggetizer, Profile
from services.runtime.claims import Claims
from services.runtime.errors import Permanent
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import (
    AssignmentReply,
    CreatedNugget,
    ImportanceReply,
    NuggetImportance,
    NuggetsReply,
    NuggetSupport,
    WindowReply,
)
from services.runtime.single_writer import SingleWriter
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.content.nugget_banks import NuggetLabels, NuggetLists
from services.store.database import Database
from services.store.work.claims import DatabaseClaims
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.samples import NOON
from tests.stored import LATER, evaluate, places_of

LEAVES, DRINK, GREEN = "Tea is made of leaves.", "Tea is a drink.", "Tea is green."


def says_the_documents(prompt: Prompt[Any]) -> NuggetsReply:
    """One vital nugget for each answer and chunk."""
    sources = blocks(prompt, "answer", "chunk")
    return NuggetsReply(
        nuggets=[CreatedNugget(text=f"Fact: {b.text}", importance="vital", sources=[b.id]) for b in sources]
    )


def supports_all(prompt: Prompt[Any]) -> AssignmentReply:
    nuggets = blocks(prompt, "nugget")
    return AssignmentReply(labels=[NuggetSupport(id=b.id, label="support", first=1) for b in nuggets])


def scripted() -> ScriptedModel:
    tasks = {"nuggets": says_the_documents, "nuggets_added": says_the_documents, "assignment": supports_all}
    return ScriptedModel(tasks)


@dataclass
class Pipeline:
    """Nuggetizer and assigner of one process, with the bank in a database."""

    database: Database
    model: ScriptedModel = field(default_factory=scripted)
    age: timedelta | None = None
    now: datetime = NOON
    claims: Callable[[], Claims] = Claims
    nuggetizer: Nuggetizer = field(init=False)
    assigner: Assigner = field(init=False)

    def __post_init__(self) -> None:
        writer, other = SingleWriter(self.claims()), SingleWriter(self.claims())
        lists = NuggetLists(self.database)
        bank = NuggetBank(lists, self.age, writer, clock=lambda: self.now)
        self.nuggetizer = Nuggetizer(self.model, bank=bank)
        self.assigner = Assigner(self.model, shared=SharedLabels(NuggetLabels(self.database), writer=other))

    async def lists(self, event: BattleRetrieved) -> BattleNuggetized:
        (made,) = await self.nuggetizer(event)
        assert isinstance(made, BattleNuggetized)
        return made

    async def labels(self, event: BattleRetrieved) -> BattleAssigned:
        (made,) = await self.assigner(await self.lists(event))
        assert isinstance(made, BattleAssigned)
        return made


def battle(name: str, a: str = LEAVES, b: str = DRINK, query: str = "What is tea?") -> BattleRetrieved:
    fought = Battle(name, "default", query, Answer("left", a), Answer("right", b))
    return samples.retrieved(key=f"retrieved {name}", fought=fought)


async def test_battles_with_the_same_query_and_evidence_share_list_and_labels(database: Database) -> None:
    pipeline = Pipeline(database)
    first = await pipeline.labels(battle("b1"))
    assert pipeline.model.tasks() == ["nuggets", "assignment", "assignment"]
    second = await pipeline.labels(battle("b2", a=DRINK, b=LEAVES, query=" what IS  tea?"))
    assert len(pipeline.model.asked) == 3
    assert second.nugget_list.bank == first.nugget_list.bank is not None
    assert first.nugget_list.bank.version == 1
    assert [n.id for n in second.nugget_list.nuggets] == [n.id for n in first.nugget_list.nuggets]
    quotes = {(label.side, label.quote) for label in second.assignment_set.assignments}
    assert quotes == {(Side.A, DRINK), (Side.B, LEAVES)}
    assert second.assignment_set.model == "scripted-2026"
    assert first.key != second.key


async def test_the_same_words_after_other_turns_of_the_system_are_labelled_again(database: Database) -> None:
    pipeline, event = Pipeline(database), battle("b1")
    a, b = samples.TURNS, (samples.TURNS[0], Turn(Role.ASSISTANT, "India grows it."))
    fought = event.battle
    own = replace(
        fought, a=replace(fought.a, conversation=a), b=replace(fought.b, text=LEAVES, conversation=b)
    )
    await pipeline.labels(replace(event, battle=own))
    assert pipeline.model.tasks() == ["nuggets", "assignment", "assignment"]
    await pipeline.labels(replace(event, key="k2", battle=replace(own, id="b2")))
    assert len(pipeline.model.asked) == 3
    single = replace(fought, id="b3", b=replace(fought.b, text=LEAVES))
    await pipeline.labels(replace(event, key="k3", battle=single))
    assert pipeline.model.tasks()[3:] == ["nuggets", "assignment"]


async def test_a_battle_that_shares_nothing_reads_once_per_list_and_answer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline, reads, read = Pipeline(database), 0, database.read

    async def counted(work: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(work)

    monkeypatch.setattr(database, "read", counted)
    await pipeline.labels(battle("b1"))
    assert pipeline.model.tasks() == ["nuggets", "assignment", "assignment"]
    assert reads == 3


@pytest.mark.parametrize(
    "other",
    [
        battle("b2", query="What is coffee?"),
        replace(battle("b2"), evidence=(samples.evidence(1),)),
        replace(battle("b2"), battle=replace(battle("b2").battle, arena="another")),
    ],
    ids=["query", "evidence", "arena"],
)
async def test_other_battles_get_a_list_of_their_own(database: Database, other: BattleRetrieved) -> None:
    pipeline = Pipeline(database)
    first, second = await pipeline.lists(battle("b1")), await pipeline.lists(other)
    assert pipeline.model.tasks() == ["nuggets", "nuggets"]
    assert first.nugget_list.bank is not None
    assert second.nugget_list.bank is not None
    assert first.nugget_list.bank.bank != second.nugget_list.bank.bank


async def test_a_new_answer_makes_a_new_version_and_earlier_battles_keep_theirs(database: Database) -> None:
    pipeline = Pipeline(database)
    first = await pipeline.labels(battle("b1"))
    grown = await pipeline.labels(battle("b2", b=GREEN))
    assert pipeline.model.tasks()[3:] == ["nuggets_added", "assignment", "assignment"]
    added, of_leaves, of_green = pipeline.model.asked[3:]
    assert [block.text for block in blocks(added, "answer")] == [GREEN]
    assert len(blocks(added, "nugget")) == len(first.nugget_list.nuggets)
    assert {len(blocks(of_leaves, "nugget")), len(blocks(of_green, "nugget"))} == {1, 5}
    assert grown.nugget_list.bank is not None
    assert grown.nugget_list.bank.version == 2
    assert {n.text for n in grown.nugget_list.nuggets} == {
        *(n.text for n in first.nugget_list.nuggets),
        f"Fact: {GREEN}",
    }
    labelled = {(label.nugget_id, label.side) for label in grown.assignment_set.assignments}
    assert labelled == {(n.id, side) for n in grown.nugget_list.nuggets for side in Side}
    again = await pipeline.lists(battle("b1"))
    assert again.nugget_list == first.nugget_list
    assert len(pipeline.model.asked) == 6


async def test_what_an_answer_repeats_in_another_notation_makes_no_version_and_is_named(
    database: Database,
) -> None:
    pipeline = Pipeline(database)
    repeated = CreatedNugget(text="Fact: Tea isn't green.", importance="vital", sources=["a1"])
    known = CreatedNugget(text="Fact: Tea is not green.", importance="vital", sources=["a1"])
    own = {"nuggets": lambda _: NuggetsReply(nuggets=[known, repeated])}
    added = {"nuggets_added": lambda _: NuggetsReply(nuggets=[repeated])}
    pipeline.model.script = {**pipeline.model.script, **own, **added}
    merged = MergedNugget(repeated.text, known.text)
    first = (await pipeline.lists(battle("b1"))).nugget_list
    assert [step.merged for step in first.history] == [(merged,)]
    grown = (await pipeline.lists(battle("b2", b=GREEN))).nugget_list
    assert [nugget.text for nugget in grown.nuggets] == [known.text]
    assert grown.bank is not None
    assert grown.bank.version == 1
    assert [step.merged for step in grown.history] == [(merged,), (merged,)]


async def test_an_answer_without_new_facts_makes_no_version(database: Database) -> None:
    pipeline = Pipeline(database)
    pipeline.model.script = {**pipeline.model.script, "nuggets_added": lambda _: NuggetsReply(nuggets=[])}
    await pipeline.lists(battle("b1"))
    for name in ("b2", "b3"):
        listed = await pipeline.lists(battle(name, b=GREEN))
        assert listed.nugget_list.bank is not None
        assert listed.nugget_list.bank.version == 1
    assert pipeline.model.tasks() == ["nuggets", "nuggets_added"]


async def test_nuggets_name_the_documents_of_the_battle_they_are_in(database: Database) -> None:
    pipeline = Pipeline(database)
    await pipeline.lists(battle("b1"))
    later = replace(samples.evidence(1), url="https://mirror.example/1")
    event = replace(battle("b2", a=DRINK, b=GREEN), evidence=(later, samples.evidence(2)))
    listed = await pipeline.lists(event)
    origins = {n.text: n.provenance for n in listed.nugget_list.nuggets}
    assert [p.document for p in origins[f"Fact: {DRINK}"]] == ["answer:a"]
    assert [p.document for p in origins[f"Fact: {GREEN}"]] == ["answer:b"]
    assert [p.document for p in origins[f"Fact: {LEAVES}"]] == [OTHER_ANSWER]
    assert [p.url for p in origins["Fact: Passage number 1."]] == ["https://mirror.example/1"]
    (missed,) = [n for n in listed.nugget_list.nuggets if n.text == f"Fact: {LEAVES}"]
    assert cause_of(missed, Side.A, event.evidence) is Cause.UNSOURCED


async def test_a_message_delivered_twice_gets_the_list_that_it_got_first(database: Database) -> None:
    pipeline = Pipeline(database)
    await pipeline.lists(battle("b1"))
    shared = await pipeline.lists(battle("b2"))
    await pipeline.lists(battle("b3", b=GREEN))
    assert await pipeline.lists(battle("b2")) == shared


async def test_a_list_that_is_too_old_is_not_joined(database: Database) -> None:
    pipeline = Pipeline(database, age=timedelta(hours=1))
    await pipeline.lists(battle("b1"))
    pipeline.now = NOON + timedelta(minutes=59)
    await pipeline.lists(battle("b2"))
    pipeline.now = NOON + timedelta(minutes=61)
    renewed = await pipeline.lists(battle("b3"))
    assert pipeline.model.tasks() == ["nuggets", "nuggets"]
    assert renewed.nugget_list.bank is not None
    assert renewed.nugget_list.bank.version == 2


async def test_a_failed_creation_is_not_shared(database: Database) -> None:
    pipeline = Pipeline(database)
    working = pipeline.model.script
    pipeline.model.script = {"nuggets": lambda _: NuggetsReply(nuggets=[])}
    with pytest.raises(Permanent):
        await pipeline.lists(battle("b1"))
    pipeline.model.script = working
    listed = await pipeline.lists(battle("b2"))
    assert listed.nugget_list.bank is not None
    assert listed.nugget_list.bank.version == 1
    assert listed.nugget_list.nuggets[0].importance is Importance.VITAL


async def test_battles_that_meet_at_once_pay_for_one_list_and_one_label_of_each_answer(
    database: Database,
) -> None:
    pipeline = Pipeline(database)
    found = await asyncio.gather(*(pipeline.labels(battle(f"b{number}")) for number in range(6)))
    assert sorted(pipeline.model.tasks()) == ["assignment", "assignment", "nuggets"]
    assert len({each.nugget_list for each in found}) == 1


async def test_two_processes_that_meet_the_same_query_pay_once(postgres: Database) -> None:
    model = scripted()
    processes = [Pipeline(postgres, model, claims=lambda: Claims(DatabaseClaims(postgres))) for _ in range(2)]
    events = [battle("b1"), battle("b2")]
    found = await asyncio.gather(
        *(process.labels(event) for process, event in zip(processes, events, strict=True))
    )
    assert sorted(model.tasks()) == ["assignment", "assignment", "nuggets"]
    assert found[0].nugget_list == found[1].nugget_list


async def test_a_list_and_its_labels_are_deleted_with_the_last_battle_that_uses_them(
    database: Database,
) -> None:
    pipeline = Pipeline(database)
    for name in ("oolong", "sencha"):
        await evaluate(database, name, f"All about {name}.")
        await pipeline.labels(battle(name))
    tables = {"nugget_lists", "nugget_labels"}
    assert {place.split(".")[0] for place in await places_of(database, "oolong")} >= tables
    assert await Deletions(database).delete("oolong", LATER) is DeletionResult.DELETED
    assert {place.split(".")[0] for place in await places_of(database, "oolong")} == {"deletions"}
    await pipeline.labels(battle("gunpowder"))
    assert len(pipeline.model.asked) == 3  # the list and the labels are still shared
    await evaluate(database, "gunpowder", "All about gunpowder.")
    for name in ("sencha", "gunpowder"):
        await Deletions(database).delete(name, LATER)
    async with database.transaction() as tx:
        for table in sorted(tables):
            assert (await tx.exec_driver_sql(f"SELECT count(*) FROM {table}")).scalar() == 0
    await pipeline.labels(battle("matcha"))
    assert len(pipeline.model.asked) == 6


async def test_a_bank_does_not_grow_without_end(database: Database) -> None:
    pipeline = Pipeline(database)
    pipeline.nuggetizer = replace(pipeline.nuggetizer, limit=4)
    for number in range(12):
        listed = await pipeline.lists(battle(f"b{number}", a=f"Tea number {number}.", b=DRINK))
    assert len(listed.nugget_list.nuggets) == 8
    assert pipeline.model.tasks() == ["nuggets", *["nuggets_added"] * 4]


async def test_the_paper_profile_shares_nothing(database: Database) -> None:
    pipeline = Pipeline(database)

    def important(prompt: Prompt[Any]) -> ImportanceReply:
        labels = [NuggetImportance(id=b.id, importance="vital") for b in blocks(prompt, "nugget")]
        return ImportanceReply(labels=labels)

    pipeline.model.script = {
        "nuggets_window": lambda _: WindowReply(nuggets=["Tea is a drink."]),
        "importance": important,
    }
    pipeline.nuggetizer = replace(pipeline.nuggetizer, profile=Profile.PAPER)
    for name in ("b1", "b2"):
        assert (await pipeline.lists(battle(name))).nugget_list.bank is None
    assert pipeline.model.tasks() == ["nuggets_window", "importance"] * 2


async def test_where_answers_are_not_read_a_new_answer_adds_nothing(database: Database) -> None:
    pipeline = Pipeline(database)
    pipeline.nuggetizer = replace(pipeline.nuggetizer, sources=NuggetSources.CHUNKS)
    await pipeline.lists(battle("b1"))
    await pipeline.lists(battle("b2", b=GREEN))
    assert pipeline.model.tasks() == ["nuggets"]


async def test_another_importance_of_a_known_fact_makes_a_version(database: Database) -> None:
    pipeline = Pipeline(database)

    def says(*importance: str) -> Any:
        texts = ("Tea is a drink.", "Tea is sold by weight.")
        return lambda _: NuggetsReply(
            nuggets=[
                CreatedNugget.model_validate({"text": text, "importance": given, "sources": ["a1"]})
                for text, given in zip(texts, importance, strict=True)
            ]
        )

    pipeline.model.script = {"nuggets": says("vital", "okay"), "nuggets_added": says("vital", "vital")}
    first = await pipeline.lists(battle("b1"))
    grown = await pipeline.lists(battle("b2", b=GREEN))
    for made, version, importance in ((first, 1, Importance.OKAY), (grown, 2, Importance.VITAL)):
        assert made.nugget_list.bank is not None
        assert made.nugget_list.bank.version == version
        assert made.nugget_list.nuggets[1].importance is importance
    assert [n.id for n in grown.nugget_list.nuggets] == [n.id for n in first.nugget_list.nuggets]
    assert await pipeline.lists(battle("b1")) == first


async def test_labels_of_two_models_name_both(database: Database) -> None:
    pipeline = Pipeline(database)
    await pipeline.labels(battle("b1"))

    class Renamed(ScriptedModel):
        """A model whose endpoint reports another name from now on."""

        async def ask(self, prompt: Prompt[Any], *, stage: str, battle_id: str) -> Any:
            return replace(await super().ask(prompt, stage=stage, battle_id=battle_id), model="router-2027")

    pipeline.assigner = replace(pipeline.assigner, model=Renamed(pipeline.model.script))
    await pipeline.labels(battle("b2", b=GREEN))
    grown = await pipeline.labels(battle("b3"))
    assert grown.assignment_set.model == "router-2027, scripted-2026"
    again = await pipeline.labels(battle("b1"))
    assert again.assignment_set.model == "scripted-2026"
