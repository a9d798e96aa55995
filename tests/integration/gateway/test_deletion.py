"""Deleting battles over the API, by the client and by the commands, on real parts."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from arena.v1 import arena_pb2, battle_pb2
from sqlalchemy import select

from nuggetstream.client import AsyncClient, Conflict, Forbidden, Invalid, NotFound
from nuggetstream.domain.battle import Battle
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.failure import Reason
from services.runtime.bus import Bus, BusSettings, Outgoing
from services.runtime.runner import DeadLetter
from services.store.battles.deletion import Deletions
from services.store.battles.eraser import eraser_of
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.store.outcomes.recount import recount
from services.store.tables import deletions, metadata
from services.wire.battle_messages import BattleMessages
from services.wire.codec import encode, schema_of, seal
from services.wire.convert import to_message
from tests.chaos.brokers import brokers, declared
from tests.e2e.processes import run_here
from tests.integration.gateway.world import Story, World, battle, opened, submission
from tests.stored import latest, places_of

TOKEN = "a-token-of-administrators"
STREAMS = ("ARENA", "INGEST", "DEAD")


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


async def scored_battle(world: World, name: str, **parts: str) -> None:
    """A battle that has ended, with outcomes in every lens, and its messages and a newer vote in a stream."""
    story = Story(battle(id=name, **parts))
    await world.http.post("/v1/battles", json=submission(id=name, **parts))
    await world.happens(story.submitted(), story.retrieved(), story.judged(), story.assigned(), story.voted())
    await world.http.post(f"/v1/battles/{name}/vote", json={"vote": "b"})


async def published_in_every_stream(bus: Bus, blobs: Blobs, name: str) -> None:
    """A battle that an arena sends, its first event without the header of battles, and a dead letter."""
    fought = Battle(name, "demo", f"What is {name}?", battle().a, battle().b)
    request = arena_pb2.SubmitBattleRequest(battle=to_message(fought, battle_pb2.Battle))
    sent = request.SerializeToString()
    await bus.publish(Outgoing("arena.v1.ingest", f"ingest {name}", "", sent))
    old = BattleSubmitted(f"old {name}", fought)  # as a version without the header published it
    message = Outgoing("arena.v1.battle.submitted", old.key, schema_of(BattleSubmitted), encode(old))
    await bus.publish(message)
    sealed = await seal(replace(old, key=f"dead {name}"), blobs)
    letter = DeadLetter(
        stage="scraper",
        subject=sealed.subject,
        id=sealed.id,
        schema=sealed.schema,
        headers=sealed.wire_headers(),
        body=sealed.body,
        reason=Reason.BUG,
        detail="a bug",
        attempts=5,
        stream="ARENA",
        stream_seq=1,
    )
    await bus.publish(letter.outgoing("arena.v1.dead.scraper"))


async def texts_in_streams(bus: Bus) -> dict[str, list[str]]:
    """The messages of every stream, headers and body as one text."""
    texts: dict[str, list[str]] = {name: [] for name in STREAMS}
    for name in STREAMS:
        state = (await bus.js.stream_info(name)).state
        deleted = set(state.deleted or ())
        for number in range(max(state.first_seq, 1), state.last_seq + 1):
            if number in deleted:
                continue
            try:
                message = await bus.js.get_msg(name, number)
            except Exception:
                continue
            texts[name].append(f"{message.headers} {(message.data or b'').decode('utf-8', 'replace')}")
    return texts


async def test_a_deleted_battle_is_in_no_table_and_no_stream(world: World, client: AsyncClient) -> None:
    for name in ("oolong", "sencha"):
        await scored_battle(world, name, query=f"What is {name}?")
        await published_in_every_stream(world.bus, world.blobs, name)
    before = await texts_in_streams(world.bus)
    assert all(any("oolong" in text for text in texts) for texts in before.values())
    assert (await client.delete_battle("oolong")).result == "deleted"
    after = await texts_in_streams(world.bus)
    assert after == {name: [t for t in texts if "oolong" not in t] for name, texts in before.items()}
    assert await places_of(world.database, "oolong") == {"deletions.battle_id"}
    assert set((await recount(world.database, repair=False)).values()) == {0}
    assert (await world.http.get("/v1/battles/oolong")).status_code == 404
    assert (await world.http.get("/v1/battles/sencha")).status_code == 200
    assert (await client.delete_battle("oolong")).result == "unchanged"


async def test_what_is_published_late_is_dropped_and_deleted_at_the_end(
    world: World, client: AsyncClient
) -> None:
    await scored_battle(world, "oolong")
    await client.delete_battle("oolong")
    story = Story(battle(id="oolong"))
    late = story.judged()
    await world.happens(late, story.submitted(), story.voted())
    assert (await world.http.get("/v1/battles/oolong")).status_code == 404
    assert await world.gateway.outcomes.of_battle("oolong") == []
    await world.bus.publish(await seal(late, world.blobs))
    eraser = eraser_of(world.bus, world.database)
    assert await eraser.finish(datetime.now(UTC)) == 0  # an attempt may still run
    assert await eraser.finish(datetime.now(UTC) + timedelta(minutes=16)) == 1
    assert not any("oolong" in text for text in (await texts_in_streams(world.bus))["ARENA"])
    assert await places_of(world.database, "oolong") == set()
    assert (await client.delete_battle("oolong")).result == "unchanged"


async def test_a_process_that_is_killed_between_database_and_streams_loses_nothing(world: World) -> None:
    """The recorder continues: the row of the deletion says what is left to do."""
    await scored_battle(world, "oolong")
    await Deletions(world.database).delete("oolong", datetime.now(UTC))
    assert any("oolong" in text for text in (await texts_in_streams(world.bus))["ARENA"])
    await eraser_of(world.bus, world.database).finish(datetime.now(UTC) + timedelta(minutes=16))
    assert not any("oolong" in text for text in (await texts_in_streams(world.bus))["ARENA"])
    async with world.database.transaction() as tx:
        assert (await tx.scalars(select(deletions.c.battle_id))).all() == [None]


async def test_a_deleted_battle_sent_again_is_a_new_battle(world: World, client: AsyncClient) -> None:
    await scored_battle(world, "oolong")
    await client.delete_battle("oolong")
    reply = await world.http.post("/v1/battles", json=submission(id="oolong", query="Something else?"))
    assert reply.status_code == 202
    story = Story(battle(id="oolong", query="Something else?"))
    await world.happens(replace(story.submitted(), key="new"), replace(story.judged(), key="new"))
    await eraser_of(world.bus, world.database).finish(datetime.now(UTC) + timedelta(minutes=16))
    view = (await world.http.get("/v1/battles/oolong")).json()
    assert (view["query"], view["event_count"]) == ("Something else?", 2)


async def test_a_running_battle_is_not_deleted_and_an_unknown_one_not_found(
    world: World, client: AsyncClient
) -> None:
    await world.http.post("/v1/battles", json=submission(id="a/b c"))
    with pytest.raises(Conflict, match="still running"):
        await client.delete_battle("a/b c")
    with pytest.raises(NotFound):
        await client.delete_battle("nobody")


async def test_only_administrators_delete(bus: Bus, record: Database) -> None:
    async with opened(bus, record, admin_token=TOKEN) as world:
        url = str(world.http.base_url)
        async with AsyncClient(url) as stranger:
            with pytest.raises(Forbidden):
                await stranger.delete_battle("oolong")
            with pytest.raises(Forbidden):
                await stranger.delete_expired(before=datetime(2020, 1, 1, tzinfo=UTC))
        async with AsyncClient(url, headers={"authorization": f"Bearer {TOKEN}"}) as admin:
            with pytest.raises(NotFound):
                await admin.delete_battle("oolong")


async def test_old_battles_are_deleted_in_batches(world: World, client: AsyncClient) -> None:
    for name in ("b1", "b2", "b3"):
        await scored_battle(world, name)
    await world.http.post("/v1/battles", json=submission(id="running"))
    now = datetime.now(UTC)
    assert (await client.delete_expired(before=now - timedelta(hours=1))).battles == 0
    assert (await client.delete_expired(before=now, arena="elsewhere")).battles == 0
    assert (await client.delete_expired(before=now, dry_run=True)).battles == 3
    first = await client.delete_expired(before=now, arena="demo", limit=2)
    assert (first.battles, first.more) == (2, True)
    last = await client.delete_expired(before=now, arena="demo", limit=2)
    assert (last.battles, last.more) == (1, False)
    assert [row.id for row in await latest(world.gateway.battles, 10)] == ["running"]
    with pytest.raises(Invalid, match="in the future"):
        await client.delete_expired(before=now + timedelta(days=1))


async def test_the_commands_delete_by_id_and_by_age(world: World, client: AsyncClient) -> None:
    for name in ("b1", "b2", "b3"):
        await scored_battle(world, name)
    url = str(world.http.base_url)
    code, text = await asyncio.to_thread(run_here, "delete", "b1", "b1", "--yes", "--url", url)
    assert (code, text) == (0, "b1  deleted\nb1  unchanged\n")
    code, text = await asyncio.to_thread(run_here, "delete", "nobody", "--yes", "--url", url)
    assert code == 1
    assert "there is no battle 'nobody'" in text
    old = datetime.now(UTC) - timedelta(days=91)
    async with world.database.transaction() as tx:
        battles = metadata.tables["battles"]
        await tx.execute(battles.update().where(battles.c.id == "b2").values(received_at=old))
    options = ("retention", "--older-than", "90d", "--url", url)
    code, text = await asyncio.to_thread(run_here, *options, "--dry-run")
    assert (code, text.split()[0]) == (0, "1")
    code, text = await asyncio.to_thread(run_here, *options)
    assert (code, text.split()[0]) == (0, "1")
    assert [row.id for row in await latest(world.gateway.battles, 10)] == ["b3"]
    code, text = await asyncio.to_thread(run_here, "retention", "--older-than", "3m", "--url", url)
    assert code == 2
    assert "write 90d, 12h or 8w" in text


@pytest.mark.timeout(300)
async def test_messages_on_three_brokers_are_deleted(record: Database, tmp_path: Path) -> None:
    async with brokers({name: tmp_path / name for name in ("one", "two", "three")}) as members:
        servers = tuple(member.url for member in members.values())
        await declared(servers)
        async with Bus.connect(BusSettings(servers=servers, name="test")) as bus:
            for name in ("oolong", "sencha"):
                await published_in_every_stream(bus, Blobs(record), name)
            assert await BattleMessages(bus).delete({"oolong": None}) == 3
            for texts in (await texts_in_streams(bus)).values():
                assert [("sencha" in text, "oolong" in text) for text in texts] == [(True, False)]
