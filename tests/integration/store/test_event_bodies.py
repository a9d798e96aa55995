"""What a battle brought is stored once, and readers get the events as they were recorded."""

import random
import zlib
from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import delete, func, select, update

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Battle, Side, Source
from nuggetstream.domain.evidence import ChunkRef, Evidence
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.pipeline import Stage
from services.store import tables
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.battles.inputs import first_input
from services.store.battles.recording import NewEvent
from services.store.compressed import PACKED, compress
from services.store.content.blobs import Blobs
from services.store.content.chunk_tables import chunks as chunk_table
from services.store.content.chunks import Chunks, StoredChunk
from services.store.content.text_references import GONE
from services.store.database import Database
from services.wire.codec import decode, encode, message_id, schema_of
from services.wire.subjects import event_name
from tests import samples
from tests.samples import NOON
from tests.stored import body_of, record_new

URL = "https://example.org/tea"


def prose(seed: str, words: int) -> str:
    """Words that cannot be compressed well and are not repeated in another text."""
    rng = random.Random(seed)
    return " ".join(f"{rng.getrandbits(48):x}" for _ in range(words))


def battle_of(name: str, words: int = 200) -> Battle:
    fought = samples.battle(name, prose(f"a of {name}", words), prose(f"b of {name}", words), (URL,))
    return replace(fought, query=f"What is {name}?")


async def chunks_of(database: Database, owner: str, text: str) -> list[StoredChunk]:
    """The chunks of a page that a battle brought."""
    [page] = await Blobs(database).put_texts([text], owner)
    middle = len(text) // 2
    parts = [text[:middle], text[middle:]]
    chunks = [StoredChunk(f"{page[:30]}{i}", page, i, part) for i, part in enumerate(parts)]
    await Chunks(database).add(chunks)
    return chunks


def evaluation(battle: Battle, own: str, chunks: Sequence[StoredChunk]) -> list[events.BattleEvent]:
    """The events of an evaluated battle with one page of its own."""
    pages = (samples.page(URL, own),)
    refs = tuple(ChunkRef(chunk.id, chunk.content_hash) for chunk in chunks)
    evidence = tuple(Evidence(c.id, c.text, URL, None, c.content_hash, NOON, (Side.A,), 1.5) for c in chunks)
    return [
        events.BattleSubmitted("s", battle),
        events.BattleScraped("c", battle, pages),
        events.BattleIndexed("i", battle, pages, refs),
        events.BattleRetrieved("r", battle, pages, evidence, "bm25"),
        samples.nuggetized(9, fought=battle),
        samples.judged(fought=battle),
        samples.assigned(3, 4, of=9, fought=battle),
        samples.voted(name=battle.id),
    ]


def new_event(event: events.BattleEvent) -> NewEvent:
    kind = type(event)
    key = f"{message_id(event)} of {events.battle_id_of(event)}"
    return NewEvent(key, event_name(kind), event, schema_of(kind), encode(event))


async def record(database: Database, recorded: Sequence[events.BattleEvent], at_once: bool) -> None:
    new, battles = [new_event(event) for event in recorded], Battles(database)
    for group in [new] if at_once else [[event] for event in new]:
        await battles.record_all(group, NOON)


async def accept(database: Database, battle: Battle) -> None:
    await Battles(database).accept(battle, encode(events.BattleSubmitted("s", battle)), NOON)


async def stored_bodies(database: Database, battle_id: str) -> dict[str, bytes]:
    columns = select(tables.events.c.name, tables.events.c.body)
    async with database.transaction() as tx:
        rows = await tx.execute(columns.where(tables.events.c.battle_id == battle_id))
        return {row.name: row.body for row in rows}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("words", [20, 200, 8000])  # 8000: more than the window of deflate
async def test_events_take_less_than_their_battle_and_come_back_as_they_were(
    database: Database, words: int, at_once: bool
) -> None:
    battle, page = battle_of("oolong", words), prose("page", 400)
    await accept(database, battle)
    recorded = evaluation(battle, page, await chunks_of(database, "oolong", page))
    await record(database, recorded, at_once)
    stored = await Battles(database).events_of("oolong")
    assert [event.body for event in stored] == [encode(event) for event in recorded]
    assert all(event.complete for event in stored)
    bodies = await stored_bodies(database, "oolong")
    assert all(body.startswith(PACKED) for name, body in bodies.items() if name != "voted")
    if words == 200:
        own = len(compress(encode(recorded[0])))
        assert sum(map(len, bodies.values())) < own
    assert len(bodies["retrieved"]) < len(compress(page.encode())) or words == 8000


async def test_events_after_a_number_are_read_without_earlier_ones(
    database: Database,
) -> None:
    battle, page = battle_of("oolong"), prose("page", 400)
    await accept(database, battle)
    recorded = evaluation(battle, page, await chunks_of(database, "oolong", page))
    await record(database, recorded, at_once=True)
    for after in range(len(recorded) + 1):
        later = await Battles(database).events_of("oolong", after)
        assert [event.body for event in later] == [encode(event) for event in recorded[after:]]
        assert [event.sequence for event in later] == list(range(after + 1, len(recorded) + 1))


async def test_a_damaged_row_is_the_only_one_that_cannot_be_read(database: Database) -> None:
    battle, page = battle_of("oolong"), prose("page", 400)
    await accept(database, battle)
    recorded = evaluation(battle, page, await chunks_of(database, "oolong", page))
    await record(database, recorded, at_once=True)
    damaged = tables.events.c.name == "scraped"
    async with database.transaction() as tx:
        await tx.execute(update(tables.events).where(damaged).values(body=b"\xff damaged"))
    battles = Battles(database)
    with pytest.raises(zlib.error):
        await battles.events_of("oolong", 1, 2)
    [first] = await battles.events_of("oolong", 0, 1)
    rest = await battles.events_of("oolong", 2)
    assert [first.body, *(event.body for event in rest)] == [
        encode(event) for event in (recorded[0], *recorded[2:])
    ]


async def test_a_text_that_is_no_longer_stored_is_named_and_the_rest_is_read(database: Database) -> None:
    battle, page = battle_of("oolong"), prose("page", 400)
    await accept(database, battle)
    chunks = await chunks_of(database, "oolong", page)
    await record(database, evaluation(battle, page, chunks), at_once=True)
    async with database.transaction() as tx:
        await tx.execute(delete(chunk_table).where(chunk_table.c.id == chunks[1].id))
    stored = {event.name: event for event in await Battles(database).events_of("oolong")}
    assert [name for name, event in stored.items() if not event.complete] == ["retrieved"]
    retrieved = decode(stored["retrieved"].schema, stored["retrieved"].body)
    assert isinstance(retrieved, events.BattleRetrieved)
    assert [part.text for part in retrieved.evidence] == [chunks[0].text, GONE]


async def test_a_chunk_with_another_text_is_no_longer_the_evidence(database: Database) -> None:
    battle, page = battle_of("oolong"), prose("page", 400)
    await accept(database, battle)
    chunks = await chunks_of(database, "oolong", page)
    await record(database, evaluation(battle, page, chunks), at_once=True)
    async with database.transaction() as tx:
        await tx.execute(update(chunk_table).values(text="Something else."))
    stored = {event.name: event for event in await Battles(database).events_of("oolong")}
    assert not stored["retrieved"].complete


async def test_evidence_from_a_page_of_another_battle_stays_when_that_is_deleted(database: Database) -> None:
    """The retriever may search all pages; the battle quotes what it found and does not use the page."""
    oolong, sencha = battle_of("oolong"), battle_of("sencha")
    for battle in (oolong, sencha):
        await accept(database, battle)
    foreign, own = prose("of sencha", 400), prose("of oolong", 400)
    chunks = await chunks_of(database, "sencha", foreign) + await chunks_of(database, "oolong", own)
    recorded = evaluation(oolong, own, chunks)
    await record(database, recorded, at_once=True)
    await record(database, evaluation(sencha, foreign, chunks[:2]), at_once=True)
    assert await Deletions(database).delete("sencha", NOON) is DeletionResult.DELETED
    stored = await Battles(database).events_of("oolong")
    assert [event.body for event in stored] == [encode(event) for event in recorded]


async def test_evidence_that_differs_from_its_chunk_is_stored_as_it_is(database: Database) -> None:
    battle, page = battle_of("oolong"), prose("page", 400)
    await accept(database, battle)
    chunks = await chunks_of(database, "oolong", page)
    other = [replace(chunks[0], text="Not the text of this chunk."), replace(chunks[1], text="\x00odd")]
    recorded = evaluation(battle, page, other)
    await record(database, recorded, at_once=True)
    stored = await Battles(database).events_of("oolong")
    assert [event.body for event in stored] == [encode(event) for event in recorded]


async def test_bodies_that_are_no_events_come_back_as_they_were(database: Database) -> None:
    battle = battle_of("oolong")
    await Battles(database).accept(battle, b"\xfe\xff", NOON)
    odd = [b"", b"\x00" * 4000, b"\xff\xff", b"\xfe", b"\xfe" * 300, content_hash("x").encode()]
    for number, body in enumerate(odd):
        event = new_event(samples.judged(fought=battle))
        for schema in (schema_of(events.BattleRetrieved), schema_of(events.BattleSubmitted)):
            new = replace(event, message_id=f"{number} {schema}", schema=schema, body=body)
            await record_new(Battles(database), new, NOON)
    stored = await Battles(database).events_of("oolong")
    assert [event.body for event in stored] == [body for body in odd for _ in range(2)]
    assert await body_of(Battles(database), "oolong") == b"\xfe\xff"


def with_texts(battle: Battle, *texts: str) -> Battle:
    sources = tuple(Source(f"{URL}/{number}", text=text) for number, text in enumerate(texts))
    return replace(battle, a=replace(battle.a, sources=sources))


def submission(battle: Battle) -> NewBattle:
    return NewBattle(battle, encode(events.BattleSubmitted("s", battle)))


async def test_texts_that_are_sent_with_a_battle_are_stored_once(database: Database) -> None:
    page = prose("page", 300)
    battle = with_texts(battle_of("oolong"), page, "short", page, "tea\x00" * 100)
    new, battles = submission(battle), Battles(database)
    await battles.accept_all([new], NOON)
    await record(database, [events.BattleSubmitted("s", battle)], at_once=True)
    assert await Blobs(database).put_texts([page], "oolong") == [content_hash(page)]
    assert await Blobs(database).get_texts([content_hash(page)]) == {content_hash(page): page}
    assert await body_of(battles, "oolong") == new.body
    assert [event.body for event in await battles.events_of("oolong")] == [new.body]
    async with database.transaction() as tx:
        body = await tx.scalar(select(tables.battles.c.body))
        assert await tx.scalar(select(func.count()).select_from(tables.blobs)) == 1
        assert await tx.scalar(select(func.count()).select_from(tables.content_users)) == 0
    assert body is not None
    assert len(body) < len(compress(new.body)) - len(compress(page.encode())) // 2
    assert len((await stored_bodies(database, "oolong"))["submitted"]) < 100


async def test_a_text_of_several_battles_stays_until_the_last_is_deleted(database: Database) -> None:
    page, battles = prose("page", 300), Battles(database)
    names = ("oolong", "sencha", "assam")
    new = [submission(with_texts(battle_of(name), page)) for name in names]
    await battles.accept_all(new[:2], NOON)
    await battles.accept_all(new[2:], NOON)
    for name in names:
        await record(database, [replace(samples.failed(Stage.SCRAPER, name), key=name)], at_once=True)
    for number, name in enumerate(names):
        assert [await body_of(battles, other) for other in names[number:]] == [b.body for b in new[number:]]
        assert await Deletions(database).delete(name, NOON) is DeletionResult.DELETED
    assert await Blobs(database).get_texts([content_hash(page)]) == {}


async def test_a_battle_without_the_text_of_a_source_ends_with_a_reason(database: Database) -> None:
    new, battles = submission(with_texts(battle_of("oolong"), prose("page", 300))), Battles(database)
    await battles.accept_all([new], NOON)
    whole = await battles.submission("oolong")
    assert whole is not None
    assert first_input(whole) == events.BattleSubmitted("s", new.battle)
    async with database.transaction() as tx:
        await tx.execute(delete(tables.blobs))
    incomplete = await battles.submission("oolong")
    assert incomplete is not None
    failed = first_input(incomplete)
    assert isinstance(failed, events.BattleFailed)
    assert (failed.battle_id, failed.failure.reason) == ("oolong", Reason.STORE_UNAVAILABLE)
