"""Edits of nugget lists in the database, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import BankVersion, Importance
from nuggetstream.domain.nugget_edit import EditKind, NuggetChange, RecordedEdit
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState, Branch
from services.store.battles.battles import Battles
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.battles.nugget_edits import EditResult, NewEdit, NuggetEdits
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.wire.codec import encode, message_id, schema_of
from tests import samples
from tests.samples import NOON
from tests.stored import WrittenOutcomes, pair_counts, record_new

CHANGE = NuggetChange(EditKind.ADD, (), "Tea has caffeine.", Importance.OKAY)


def new_edit(author: str = "Ada", version: int = 2, left: BankVersion | None = None) -> NewEdit:
    event = replace(samples.nuggetized(1, 1), key=f"edited by {author} to {version}")
    new = NewEvent(message_id(event), "nuggetized", event, schema_of(type(event)), encode(event))
    recorded = RecordedEdit(version, version - 1, author, "because", (CHANGE,), NOON, left)
    return NewEdit("b1", f"key of {author} {version}", recorded, new)


@pytest.fixture
async def battles(database: Database) -> Battles:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    for event in (samples.nuggetized(1), samples.assigned(1, 0, of=1), samples.judged()):
        kind = type(event)
        name = kind.__name__.removeprefix("Battle").lower()
        await record_new(
            battles, NewEvent(message_id(event), name, event, schema_of(kind), encode(event)), NOON
        )
    return battles


async def test_an_edit_is_stored_with_its_event_and_its_battle_runs_again(
    battles: Battles, database: Database
) -> None:
    edits = NuggetEdits(database)
    new = new_edit(left=BankVersion("bank", 3))
    assert await edits.add(new) is EditResult.ADDED
    assert await edits.of_battle("b1") == [new.recorded]
    row = await battles.get("b1")
    assert row is not None
    assert (row.nugget_state, row.judge_state, row.state, row.ended_at) == (
        Branch.PENDING,
        Branch.DONE,
        BattleState.RUNNING,
        None,
    )
    stored = await battles.events_of("b1")
    assert [event.name for event in stored] == ["nuggetized", "assigned", "judged", "nuggetized"]
    assert stored[-1].body == new.event.body
    assert await record_new(battles, new.event, NOON) is None  # what the recorder receives is known


async def test_of_edits_at_the_same_time_one_is_accepted(battles: Battles, database: Database) -> None:
    del battles
    edits = NuggetEdits(database)
    results = await asyncio.gather(*(edits.add(new_edit(author)) for author in "abcde"))
    assert sorted(results) == [EditResult.ADDED, *[EditResult.RUNNING] * 4]
    [edit] = await edits.of_battle("b1")
    assert await edits.newest_with("b1", f"key of {edit.author} 2") == edit
    assert await edits.newest_with("b1", "another key") is None


async def test_an_edit_needs_an_ended_battle_and_the_next_version(
    battles: Battles, database: Database
) -> None:
    edits = NuggetEdits(database)
    assert await edits.add(replace(new_edit(), battle_id="nobody")) is EditResult.UNKNOWN
    assert await edits.add(new_edit(version=3)) is EditResult.OUTDATED
    assert await edits.add(new_edit()) is EditResult.ADDED
    assert await edits.add(new_edit(version=3)) is EditResult.RUNNING
    failed = samples.failed(Stage.ASSIGNER)
    new = NewEvent(message_id(failed), "failed", failed, schema_of(type(failed)), encode(failed))
    await record_new(battles, new, NOON)
    assert await edits.add(new_edit()) is EditResult.OUTDATED
    assert await edits.add(new_edit(version=3)) is EditResult.ADDED


async def test_edits_go_with_their_battle(battles: Battles, database: Database) -> None:
    del battles
    edits = NuggetEdits(database)
    await edits.add(new_edit())
    deletions = Deletions(database)
    assert await deletions.delete("b1", NOON) is DeletionResult.RUNNING
    await database.write(lambda c: c.exec_driver_sql("UPDATE battles SET ended_at = received_at"))
    assert await deletions.delete("b1", NOON) is DeletionResult.DELETED
    assert await edits.of_battle("b1") == []


async def test_the_outcome_of_the_newest_list_counts_whenever_it_is_stored(
    battles: Battles, database: Database
) -> None:
    del battles
    outcomes = WrittenOutcomes(database)
    first = Outcome(
        battle_id="b1",
        source="nugget",
        lens=Lens.NUGGET,
        arena="default",
        system_a="left",
        system_b="right",
        winner=Vote.A,
        margin=0.5,
        decided_at=NOON + timedelta(hours=1),
        list_version=1,
    )
    edited = replace(first, winner=Vote.B, margin=-0.5, decided_at=NOON, list_version=2)
    await outcomes.put_all([edited, first])  # the older list is counted late
    assert await outcomes.of_battle("b1") == [edited]
    await outcomes.put(replace(first, decided_at=NOON + timedelta(hours=2), list_version=None))
    assert await outcomes.of_battle("b1") == [edited]
    counts = await pair_counts(database, "default", Lens.NUGGET)
    assert [(count.winner, count.count) for count in counts] == [(Vote.B, 1)]
