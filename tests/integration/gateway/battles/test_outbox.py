"""What is accepted gets published, whatever becomes of broker and process, and no vote gets lost."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import select

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleFailed, BattleRetrieved, BattleSubmitted, BattleVoted
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.submission import parse_submission
from services.gateway.battles import relay as relaying
from services.gateway.battles.relay import Relay
from services.recorder.reconciler import reconciler
from services.runtime.bus import Outgoing, ensure
from services.runtime.errors import Outage
from services.runtime.nats_server import NatsServer
from services.store.tables import battles, blobs
from services.store.work.outbox import outbox
from services.wire import topology
from tests.integration.gateway.world import Story, World, battle, submission
from tests.stored import pair_counts

AT_ONCE = timedelta(0)


async def waiting(world: World) -> list[str]:
    """The subjects of the messages in the outbox, without the prefix of battles."""
    async with world.database.reading() as tx:
        rows = await tx.scalars(select(outbox.c.subject).order_by(outbox.c.subject))
        return [subject.rpartition(".")[2] for subject in rows]


async def counted(world: World) -> dict[Vote, int]:
    counts = await pair_counts(world.database, "demo", Lens.HUMAN)
    return {count.winner: count.count for count in counts}


async def connected(world: World) -> None:
    while not world.bus.connected:
        await asyncio.sleep(0.01)


async def lose_the_stream(world: World) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())


async def unpublished(world: World, **changes: object) -> None:
    """Accept a battle in a process that is killed before it publishes anything."""

    class Killed(Relay):
        async def publish(self, _: object) -> None:
            raise asyncio.CancelledError

    relay = world.gateway.intake.relay
    intake = replace(world.gateway.intake, relay=Killed(relay.bus, relay.outbox))
    with pytest.raises(asyncio.CancelledError):
        await intake.submit(parse_submission(submission(**changes)), datetime.now(UTC))


async def test_what_was_published_leaves_the_outbox(world: World) -> None:
    await world.http.post("/v1/battles", json=submission(vote="a"))
    assert await waiting(world) == ["submitted", "voted"]  # until the next pass
    assert await world.gateway.intake.relay.relay(AT_ONCE) == 0
    assert await waiting(world) == []
    assert {type(event) for event in await world.published()} == {BattleSubmitted, BattleVoted}


async def test_while_the_broker_is_away_battles_and_votes_are_accepted_and_wait(
    world: World, nats_server: NatsServer
) -> None:
    relay = world.gateway.intake.relay
    await nats_server.stop()
    assert (await world.http.post("/v1/battles", json=submission())).status_code == 202
    assert (await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})).status_code == 202
    assert (await world.http.post("/v1/battles", json=submission())).status_code == 200
    await relay.relay(AT_ONCE)
    assert REGISTRY.get_sample_value("nuggetstream_outbox_messages") == 2
    ready = await world.http.get("/readyz")
    assert (ready.status_code, ready.json()["reasons"]) == (
        503,
        ["the broker is not connected", "2 messages of accepted battles and votes wait for the broker"],
    )
    assert (await world.http.get("/readyz?only=traffic")).status_code == 200
    assert (await world.http.get("/healthz")).status_code == 200

    await nats_server.start()
    await connected(world)
    assert await relay.relay(AT_ONCE) == 2
    assert [type(event) for event in await world.published()] == [BattleSubmitted, BattleVoted]
    assert await waiting(world) == []
    assert REGISTRY.get_sample_value("nuggetstream_outbox_messages") == 0
    assert (await world.http.get("/readyz")).status_code == 200


async def test_a_failed_battle_runs_again_even_if_the_broker_is_away_when_it_is_sent_again(
    world: World, nats_server: NatsServer
) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.retrieved(), story.judged(), story.failed(Stage.NUGGETIZER))
    await nats_server.stop()
    again = await world.http.post("/v1/battles", json=submission())
    assert (again.status_code, again.json()["rerun"]) == (202, True)
    again = await world.http.post("/v1/battles", json=submission())  # one run, however often it is sent
    assert (again.status_code, again.json()["rerun"]) == (200, False)
    await nats_server.start()
    await connected(world)
    assert await world.gateway.intake.relay.relay(AT_ONCE) == 1
    submitted, retrieved = await world.published()
    assert (type(submitted), type(retrieved)) == (BattleSubmitted, BattleRetrieved)
    assert isinstance(retrieved, BattleRetrieved)
    assert retrieved.key != story.retrieved().key
    assert replace(retrieved, key=story.retrieved().key) == story.retrieved()
    assert (await world.http.get("/v1/battles/tides")).json()["state"] == "running"


@pytest.mark.parametrize("size", [1_000, 190_000], ids=["small", "by reference"])
async def test_what_a_killed_process_accepted_is_published_once(world: World, size: int) -> None:
    a = submission()["a"] | {"text": "word " * (size // 5)}
    await unpublished(world, vote="b", a=a, b=submission()["b"] | {"text": "y" * size})
    assert await world.published() == []
    relay = world.gateway.intake.relay
    assert await relay.relay(relaying._OLDER) == 0  # the process that accepted it may still publish it
    assert await relay.relay(AT_ONCE) == 2
    assert await relay.relay(AT_ONCE) == 0
    submitted, voted = sorted(await world.published(), key=lambda event: type(event).__name__)
    assert isinstance(submitted, BattleSubmitted)
    assert isinstance(voted, BattleVoted)
    assert submitted.battle.answer(Side.A).text == a["text"]
    row = await world.gateway.battles.get("tides")
    assert row is not None
    assert (voted.vote, voted.voted_at) == (Vote.B, row.received_at)


async def test_a_message_that_the_broker_does_not_take_holds_up_no_other(world: World) -> None:
    async def publish(message: Outgoing, within: float | None = None) -> object:
        if "Voted" in message.id:
            raise Outage(Reason.STORE_UNAVAILABLE, "no room")
        return await type(world.bus).publish(world.bus, message, within)

    await unpublished(world, vote="a")
    relay = world.gateway.intake.relay
    broken = replace(relay)
    broken.bus = type("Broken", (), {"publish": staticmethod(publish), "connected": True})()
    assert await broken.relay(AT_ONCE) == 1
    assert await waiting(world) == ["voted"]
    assert await relay.relay(AT_ONCE) == 1


async def test_a_battle_whose_text_is_gone_fails_with_a_reason_and_one_that_was_deleted_is_forgotten(
    world: World,
) -> None:
    source = {"url": "https://example.org/tides", "text": "The Moon pulls the water. " * 50}
    await unpublished(world, a=submission()["a"] | {"sources": [source]})
    await unpublished(world, id="gone")
    async with world.database.transaction() as tx:
        await tx.execute(blobs.delete())
        await tx.execute(battles.delete().where(battles.c.id == "gone"))
    assert await world.gateway.intake.relay.relay(AT_ONCE) == 2
    (failed,) = await world.published()
    assert isinstance(failed, BattleFailed)
    assert failed.battle_id == "tides"
    assert await waiting(world) == []


async def test_a_full_outbox_accepts_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "_LIMIT", 1)
    relay = world.gateway.intake.relay
    await unpublished(world)
    relay.bus = type("Away", (), {"connected": False})()  # type: ignore[assignment]
    await relay.relay(AT_ONCE)
    refused = await world.http.post("/v1/battles", json=submission(id="late"))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert "1 messages of accepted battles and votes wait for the broker" in refused.json()["error"]
    assert (await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})).status_code == 503
    relay.bus = world.bus
    assert await relay.relay(AT_ONCE) == 1
    assert (await world.http.post("/v1/battles", json=submission(id="late"))).status_code == 202


async def test_a_vote_is_counted_when_it_is_accepted_and_no_stream_can_lose_it(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for vote in ("a", "tie", "b"):
        assert (await world.http.post("/v1/battles/tides/vote", json={"vote": vote})).status_code == 202
    assert await counted(world) == {Vote.B: 1}
    votes = [event for event in await world.published() if isinstance(event, BattleVoted)]
    assert [event.vote for event in votes] == [Vote.A, Vote.TIE, Vote.B]
    await world.happens(*votes)  # the recorder gets them in any order, as often as it likes
    await world.happens(*reversed(votes))
    await lose_the_stream(world)
    names = [event.name for event in await world.gateway.battles.events_of("tides")]
    assert (names, await counted(world)) == (["voted"] * 3, {Vote.B: 1})


async def test_the_vote_that_came_with_a_battle_is_counted_once_and_loses_to_a_later_one(
    world: World,
) -> None:
    for _ in range(2):
        await world.http.post("/v1/battles", json=submission(vote="b"))
    assert await counted(world) == {Vote.B: 1}
    await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})
    await world.http.post("/v1/battles", json=submission(vote="b"))
    await world.happens(*[event for event in await world.published() if isinstance(event, BattleVoted)])
    assert await counted(world) == {Vote.A: 1}


async def test_a_vote_for_a_battle_that_is_not_stored_is_rejected(world: World) -> None:
    assert (await world.http.post("/v1/battles/nobody/vote", json={"vote": "a"})).status_code == 404
    assert await waiting(world) == []


async def test_a_battle_that_waits_in_the_outbox_gets_published_once_with_the_reconciler(
    world: World,
) -> None:
    await unpublished(world)
    reconciling = reconciler(world.bus, world.database, world.blobs)
    assert await reconciling.reconcile(datetime.now(UTC) + timedelta(minutes=20)) == 1
    assert await world.gateway.intake.relay.relay(AT_ONCE) == 1
    assert len(await world.published()) == 1
