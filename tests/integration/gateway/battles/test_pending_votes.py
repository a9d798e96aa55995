"""Votes that were cast: none is lost with a stream, and each is counted once."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2
from sqlalchemy import delete, select

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleFailed, BattleVoted
from nuggetstream.domain.failure import Reason, Stage
from nuggetstream.domain.lens import Lens
from services.recorder.reconciler import Reconciler, reconciler
from services.runtime import rpc
from services.runtime.bus import ensure
from services.runtime.nats_server import NatsServer
from services.store.database import Database
from services.store.pending_votes import pending_votes
from services.store.tables import battles
from services.wire import topology
from tests.integration.gateway.world import Story, World, battle, submission

MINUTE = timedelta(minutes=1)
Cast = Callable[[World, Vote], Awaitable[None]]


@pytest.fixture
async def voting(world: World) -> World:
    """A platform with a battle that has ended, and whose messages are handled."""
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*Story(battle()).told())
    await lose_the_stream(world)
    return world


@pytest.fixture
def reconciling(world: World) -> Reconciler:
    return reconciler(world.bus, world.database, world.blobs, quiet_after=900.0)


async def over_http(world: World, vote: Vote) -> None:
    reply = await world.http.post("/v1/battles/tides/vote", json={"vote": vote.value})
    assert reply.status_code == 202


async def over_grpc(world: World, vote: Vote) -> None:
    values = {Vote.A: battle_pb2.VOTE_A, Vote.B: battle_pb2.VOTE_B}
    async with rpc.channel(world.grpc_target) as channel:
        request = arena_pb2.CastVoteRequest(battle_id="tides", vote=values[vote])
        await arena_pb2_grpc.ArenaStub(channel).CastVote(request, timeout=20)


async def lose_the_stream(world: World) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())


async def handled(world: World) -> list[BattleVoted]:
    """The votes in the stream, after the recorder handled all of them."""
    votes = [event for event in await world.published() if isinstance(event, BattleVoted)]
    await world.happens(*votes)
    return votes


async def pending(database: Database) -> list[tuple[str, str]]:
    async with database.reading() as tx:
        rows = await tx.execute(select(pending_votes.c.battle_id, pending_votes.c.vote))
        return [(row.battle_id, row.vote) for row in rows]


async def counted(world: World) -> dict[Vote, int]:
    counts = await world.gateway.outcomes.pair_counts("demo", Lens.HUMAN)
    return {count.winner: count.count for count in counts}


async def times_recorded(world: World) -> int:
    return [event.name for event in await world.gateway.battles.events_of("tides")].count("voted")


@pytest.mark.parametrize("cast", [over_http, over_grpc])
async def test_a_vote_whose_stream_is_lost_is_counted_once(
    voting: World, reconciling: Reconciler, cast: Cast
) -> None:
    await cast(voting, Vote.A)
    await lose_the_stream(voting)
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now) == 0  # it may be on its way
    assert await reconciling.reconcile(now + 2 * MINUTE) == 1
    assert len(await handled(voting)) == 1
    assert await counted(voting) == {Vote.A: 1}
    assert await pending(voting.database) == []
    assert await times_recorded(voting) == 1
    assert await reconciling.reconcile(now + 600 * MINUTE) == 0


async def test_of_two_lost_votes_the_newest_counts(voting: World, reconciling: Reconciler) -> None:
    for vote in (Vote.A, Vote.TIE, Vote.B):
        await over_http(voting, vote)
    assert await pending(voting.database) == [("tides", "b")]
    await lose_the_stream(voting)
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    await handled(voting)
    assert await counted(voting) == {Vote.B: 1}


async def test_an_older_vote_that_is_handled_late_does_not_end_the_wait_for_the_newest(
    voting: World, reconciling: Reconciler
) -> None:
    await over_http(voting, Vote.A)
    older = [event for event in await voting.published() if isinstance(event, BattleVoted)]
    await over_http(voting, Vote.B)
    await lose_the_stream(voting)
    await voting.happens(*older)
    assert await counted(voting) == {Vote.A: 1}
    assert await pending(voting.database) == [("tides", "b")]
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    await handled(voting)
    assert await counted(voting) == {Vote.B: 1}


async def test_a_vote_that_waits_in_the_stream_is_left_alone(voting: World, reconciling: Reconciler) -> None:
    await over_http(voting, Vote.A)
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert len(await handled(voting)) == 1
    assert await pending(voting.database) == []


async def test_a_vote_whose_publication_failed_is_counted(
    voting: World, reconciling: Reconciler, nats_server: NatsServer
) -> None:
    await nats_server.stop()
    reply = await voting.http.post("/v1/battles/tides/vote", json={"vote": "a"})
    assert reply.status_code == 503
    await nats_server.start()
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    await handled(voting)
    assert await counted(voting) == {Vote.A: 1}


async def test_a_broker_that_takes_a_vote_for_a_duplicate_gets_it_again(
    voting: World, reconciling: Reconciler
) -> None:
    """A purged stream remembers the ids of its messages; pauses grow beyond the time for which it does."""
    await over_http(voting, Vote.A)
    await voting.bus.js.purge_stream("ARENA")
    now = datetime.now(UTC)
    passes = [now + minutes * MINUTE for minutes in (2, 3, 5, 9, 17)]
    assert [await reconciling.reconcile(at) for at in passes] == [1, 0, 1, 1, 1]


async def test_a_vote_of_a_battle_that_is_not_stored_is_dropped(
    voting: World, reconciling: Reconciler
) -> None:
    assert (await voting.http.post("/v1/battles/nobody/vote", json={"vote": "a"})).status_code == 404
    assert await pending(voting.database) == []
    await over_http(voting, Vote.A)
    await lose_the_stream(voting)
    async with voting.database.transaction() as tx:
        await tx.execute(delete(battles).where(battles.c.id == "tides"))
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    assert await voting.published() == []
    assert await pending(voting.database) == []


async def test_a_vote_that_is_never_counted_ends_with_a_reason(
    voting: World, reconciling: Reconciler
) -> None:
    await over_http(voting, Vote.A)
    now = datetime.now(UTC)
    for hour in range(1, 12):
        await lose_the_stream(voting)
        assert await reconciling.reconcile(now + timedelta(hours=2 * hour)) == 1
    (failed,) = await voting.published()
    assert isinstance(failed, BattleFailed)
    assert (failed.failure.stage, failed.failure.reason) == (Stage.RECORDER, Reason.DEADLINE)
    assert "published 10 times more" in failed.failure.detail
    assert await reconciling.reconcile(now + timedelta(days=300)) == 0
    await voting.happens(failed)
    assert (await voting.http.get("/v1/battles/tides")).json()["state"] == "scored"


async def given_up(world: World, reconciling: Reconciler, days: int) -> str:
    """Publish the vote in vain until it is given up; the key of the failure, which is recorded."""
    now = datetime.now(UTC) + timedelta(days=days)
    for hour in range(1, 12):
        await lose_the_stream(world)
        await reconciling.reconcile(now + timedelta(hours=2 * hour))
    (failed,) = await world.published()
    assert isinstance(failed, BattleFailed)
    await world.happens(failed)
    await lose_the_stream(world)
    return failed.key


async def test_a_vote_that_was_given_up_is_listed_and_counted_once_it_is_retried(
    voting: World, reconciling: Reconciler
) -> None:
    await over_http(voting, Vote.A)
    key = await given_up(voting, reconciling, days=1)
    async with AsyncClient(str(voting.http.base_url)) as client:
        (entry,) = await client.admin_failures(stage="recorder")
        assert (entry.id, entry.open) == (key, True)
        assert (await client.act_on_failure(key, "retry")).result == "retried"
        assert await client.admin_failures(stage="recorder") == []
        assert (await client.act_on_failure(key, "retry")).result == "unchanged"
        again = await given_up(voting, reconciling, days=2)
        assert [entry.id for entry in await client.admin_failures()] == [again]
        assert (await client.act_on_failure(again, "retry")).result == "retried"
    assert await reconciling.reconcile(datetime.now(UTC) + timedelta(days=9)) == 1
    await handled(voting)
    assert await counted(voting) == {Vote.A: 1}
    assert await pending(voting.database) == []
