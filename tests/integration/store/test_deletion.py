"""A deleted battle leaves nothing behind, and takes nothing that another battle uses."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import LargeBinary, column, select, table, update

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.lens import Lens
from services.store import tables
from services.store.battles.battles import Battles
from services.store.battles.deletion import DeletionResult, Deletions, deleted_at
from services.store.battles.event_bodies import value_of_battle
from services.store.battles.recording import NewEvent
from services.store.compressed import pack
from services.store.content.blobs import Blobs, Replies
from services.store.content.chunk_changes import ChunkChanges
from services.store.content.chunks import Sources, StoredSource
from services.store.content.deleted_content import delete_content
from services.store.content.shared import insert_content
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.recount import recount
from services.store.spend.spend import DatabaseSpendStore
from services.store.tables import blobs, metadata
from services.wire.codec import encode, schema_of
from tests import samples
from tests.samples import NOON
from tests.stored import LATER, URL, WrittenOutcomes, evaluate, places_of, record_new, sent


async def finish_all(database: Database) -> None:
    deletions = Deletions(database)
    for deleted in await deletions.unfinished(datetime(2100, 1, 1, tzinfo=UTC), 10):
        await deletions.finish(deleted)


async def test_nothing_of_a_deleted_battle_is_in_any_table(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    await evaluate(database, "sencha", "All about sencha.")
    before = await places_of(database, "sencha")
    assert {place.split(".")[0] for place in await places_of(database, "oolong")} >= {
        "battles",
        "battle_counters",
        "blobs",
        "call_prompts",
        "calls",
        "chunks",
        "events",
        "failures",
        "joint_counters",
        "outcomes",
        "pair_counters",
        "replies",
        "sources",
        "spend",
    }
    assert await Deletions(database).delete("oolong", LATER) is DeletionResult.DELETED
    assert await places_of(database, "oolong") == {"deletions.battle_id"}
    await finish_all(database)
    assert await places_of(database, "oolong") == set()
    assert await places_of(database, content_hash("All about oolong.")) == set()
    assert await places_of(database, "sencha") == before


@pytest.mark.parametrize("stage", ["scraped", "judged"])
async def test_a_text_in_a_packed_event_is_found(database: Database, stage: str) -> None:
    """The test above would notice a text that a deletion left behind in packed bytes."""
    await evaluate(database, "sencha", "All about sencha.")
    async with database.transaction() as tx:
        [battle] = await tx.scalars(select(tables.battles.c.body).where(tables.battles.c.id == "sencha"))
    text = b"all about genmaicha " * 20
    hidden = pack(text, value_of_battle(battle)).stored()
    assert b"genmaicha" not in hidden
    assert await places_of(database, "genmaicha") == set()
    event = (tables.events.c.battle_id == "sencha") & (tables.events.c.name == stage)
    async with database.transaction() as tx:
        assert (await tx.execute(update(tables.events).where(event).values(body=hidden))).rowcount == 1
    assert await places_of(database, "genmaicha") == {"events.body"}


async def test_the_counters_are_as_if_the_battle_had_never_been(database: Database) -> None:
    await evaluate(database, "sencha", "All about sencha.")
    before = await counters(database)
    await evaluate(database, "oolong", "All about oolong.")
    assert await counters(database) != before
    await Deletions(database).delete("oolong", LATER)
    assert await counters(database) == before
    assert set((await recount(database, repair=False)).values()) == {0}


async def counters(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All counters of battles and outcomes, without their stamps."""
    rows = {}
    async with database.transaction() as tx:
        for name in ("battle_counters", "lens_counters", "pair_counters", "joint_counters"):
            columns = [column for column in metadata.tables[name].c if column.name != "stamp"]
            rows[name] = sorted(tuple(row) for row in await tx.execute(select(*columns)))
    return rows


async def test_a_board_changes_its_stamp_with_a_deletion(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    await evaluate(database, "sencha", "All about sencha.")
    before = await WrittenOutcomes(database).stamp("default", Lens.JUDGE)
    await Deletions(database).delete("oolong", LATER)
    assert await WrittenOutcomes(database).stamp("default", Lens.JUDGE) not in (None, before)


@pytest.mark.parametrize("first", ["oolong", "sencha"])
async def test_content_that_two_battles_use_is_deleted_with_the_second(
    database: Database, first: str
) -> None:
    """Whichever brought it, page, chunks and reply stay until the other is deleted too."""
    second = {"oolong": "sencha", "sencha": "oolong"}[first]
    for name in ("oolong", "sencha"):
        await evaluate(database, name, "All about tea.")
    await Deletions(database).delete(first, LATER)
    left = {"blobs.body", "chunks.text", "replies.body"}
    assert await places_of(database, "All about tea.") == left
    assert await Replies(database).get(content_hash("prompt All about tea."), second) is not None
    await Deletions(database).delete(second, LATER)
    assert await places_of(database, "All about tea.") == set()


async def test_content_of_versions_that_did_not_store_its_battle_is_deleted_as_well(
    database: Database,
) -> None:
    """Pages of a battle that was never indexed are found by its events, and large bodies by their hash."""
    large = encode(replace(sent("oolong"), battle=samples.battle("oolong", a="x" * 300_000)))
    await evaluate(database, "oolong", "All about oolong.")
    await Blobs(database).put_blob(sha256(large).hexdigest(), large, None)
    async with database.transaction() as tx:
        await tx.exec_driver_sql("UPDATE blobs SET battle_id = NULL")
        await tx.exec_driver_sql("DELETE FROM sources")
    submitted = replace(sent("oolong"), key="again")
    new = NewEvent("again", "submitted", submitted, schema_of(events.BattleSubmitted), encode(submitted))
    await record_new(Battles(database), new, LATER)
    async with database.transaction() as tx:  # as it was stored before bodies were compressed
        plain = update(table("events", column("message_id"), column("body", LargeBinary)))
        await tx.execute(plain.where(column("message_id") == "again").values(body=large))
    await Deletions(database).delete("oolong", LATER)
    assert await places_of(database, "All about oolong.") == set()
    assert await places_of(database, "xxx") == set()


async def test_what_was_paid_stays_in_the_accounts(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    spend = DatabaseSpendStore(database)
    before = await spend.total()
    assert before.calls == 1
    await Deletions(database).delete("oolong", LATER)
    assert await spend.total() == before
    assert (await spend.of_battle("oolong")).calls == 0
    assert set((await recount(database, repair=False)).values()) == {0}


async def test_a_running_battle_is_not_deleted(database: Database) -> None:
    await Battles(database).accept(sent("oolong").battle, b"", NOON)
    assert await Deletions(database).delete("oolong", LATER) is DeletionResult.RUNNING
    assert await Battles(database).get("oolong") is not None
    assert await Battles(database).deleted_at("oolong") is None


async def test_deleting_again_changes_nothing_and_an_unknown_battle_is_told_apart(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    deletions = Deletions(database)
    assert await deletions.delete("oolong", LATER) is DeletionResult.DELETED
    assert await deletions.delete("oolong", LATER + timedelta(1)) is DeletionResult.UNCHANGED
    assert await Battles(database).deleted_at("oolong") == LATER
    assert await deletions.delete("sencha", LATER) is DeletionResult.UNKNOWN
    assert await deletions.delete("a\x00b", LATER) is DeletionResult.UNKNOWN


async def test_what_a_stage_stores_after_the_deletion_is_deleted_at_its_end(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    await Deletions(database).delete("oolong", LATER)
    await Replies(database).put("late", "A late reply about oolong.", "oolong")
    [key] = await Blobs(database).put_texts(["A late page about oolong."], "oolong")
    await Sources(database).add("oolong", [StoredSource(URL, "oolong", key, NOON, (Side.A,))])
    late = Outcome(
        battle_id="oolong",
        source="human",
        lens=Lens.HUMAN,
        arena="default",
        system_a="oolong left",
        system_b="right",
        winner=Vote.A,
        margin=None,
        decided_at=LATER,
    )
    await WrittenOutcomes(database).put(late)
    await finish_all(database)
    assert await places_of(database, "oolong") == set()
    assert set((await recount(database, repair=False)).values()) == {0}


async def test_the_end_of_a_deletion_spares_the_battle_that_was_sent_again(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    await Deletions(database).delete("oolong", LATER)
    await evaluate(database, "oolong", "All about oolong.")
    await finish_all(database)
    assert await Battles(database).get("oolong") is not None
    assert {"blobs.body", "replies.body"} <= await places_of(database, "All about oolong.")


async def test_what_remains_of_a_deletion_is_deleted_once_no_message_can_arrive(database: Database) -> None:
    deletions = Deletions(database)
    for name, at in (("oolong", LATER), ("sencha", LATER + timedelta(days=5))):
        await evaluate(database, name, f"All about {name}.")
        await deletions.delete(name, at)
    assert await deletions.forget(LATER + timedelta(days=2)) == 0  # it is not finished
    await finish_all(database)
    assert await deletions.forget(LATER + timedelta(days=2)) == 1
    assert await deleted_at(database, "oolong") is None
    assert await deleted_at(database, "sencha") == LATER + timedelta(days=5)


async def test_a_deleted_chunk_is_named_to_indexes_in_memory(database: Database) -> None:
    for name in ("oolong", "sencha"):
        await evaluate(database, name, f"All about {name}.")
    changes = ChunkChanges(database)
    begin = await changes.mark()
    key = content_hash("All about oolong.")
    await Deletions(database).delete("oolong", LATER)
    first = await changes.since(begin)
    assert first.removed == (f"chunk of {key[:40]}",)
    assert first.complete is not database.is_sqlite
    assert (await changes.since(first.mark)).removed == ()
    await Deletions(database).delete("sencha", LATER)
    second = await changes.since(first.mark)
    assert second.removed == (f"chunk of {content_hash('All about sencha.')[:40]}",)
    assert second.mark.removed == first.mark.removed + 1 == 2


async def test_a_page_that_another_battle_has_begun_to_use_stays(database: Database) -> None:
    await evaluate(database, "oolong", "All about tea.")
    key = sha256(b"All about tea.").hexdigest()
    row = {"key": key, "body": b"All about tea.", "battle_id": "sencha"}
    async with database.transaction() as tx:  # what `put_texts` executes, not committed yet
        await tx.run_sync(insert_content, blobs, [row])
        deleting = asyncio.create_task(Deletions(database).delete("oolong", LATER))
        await asyncio.wait([deleting], timeout=0.3)  # it must wait for the other battle
    assert await deleting is DeletionResult.DELETED
    assert await Blobs(database).get_texts([key]) == {key: "All about tea."}


async def test_a_deletion_is_waited_for_only_by_those_who_use_the_same_content(postgres: Database) -> None:
    await evaluate(postgres, "oolong", "All about oolong.")
    texts = Blobs(postgres)
    async with postgres.transaction() as tx:  # what a deletion executes, not committed yet
        await delete_content(tx, "oolong")
        [other] = await texts.put_texts(["All about mate."], "sencha")
        same = asyncio.create_task(texts.put_texts(["All about oolong."], "sencha"))
        await asyncio.wait([same], timeout=0.3)  # it must wait for the deletion
        assert not same.done()
    [key] = await same
    assert await texts.get_texts([key, other]) == {key: "All about oolong.", other: "All about mate."}
