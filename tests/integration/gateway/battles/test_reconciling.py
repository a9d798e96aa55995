"""Battles that no stage works on: they are sent to the stages again, or end with a reason."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleFailed, BattleRetrieved, BattleSubmitted, BattleVoted, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.progress import BattleState
from nuggetstream.files.submission import parse_submission
from services.recorder.reconciler import Reconciler, reconciler
from services.runtime.bus import ensure
from services.runtime.errors import Outage
from services.runtime.nats_server import NatsServer
from services.wire import topology
from tests.integration.gateway.world import Story, World, battle, submission

MINUTE = timedelta(minutes=1)


@pytest.fixture
def reconciling(world: World) -> Reconciler:
    return reconciler(world.bus, world.database, world.blobs, quiet_after=900.0)


async def state_of(world: World) -> BattleState:
    row = await world.gateway.battles.get("tides")
    assert row is not None
    return row.state


async def lose_the_stream(world: World) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())


async def test_a_battle_whose_publication_failed_is_published(
    world: World, reconciling: Reconciler, nats_server: NatsServer
) -> None:
    await nats_server.stop()
    assert (await world.http.post("/v1/battles", json=submission())).status_code == 503
    assert await state_of(world) is BattleState.RUNNING  # a ghost: nobody works on it
    await nats_server.start()
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now) == 0  # it may be on its way
    assert await reconciling.reconcile(now + 2 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleSubmitted]
    assert await reconciling.reconcile(now + 2 * MINUTE) == 0


async def test_the_vote_that_came_with_a_battle_is_published_with_it(
    world: World, reconciling: Reconciler, nats_server: NatsServer
) -> None:
    await nats_server.stop()
    assert (await world.http.post("/v1/battles", json=submission(vote="b"))).status_code == 503
    await nats_server.start()
    row = await world.gateway.battles.get("tides")
    assert row is not None
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    voted, submitted = await world.published()
    assert isinstance(submitted, BattleSubmitted)
    assert isinstance(voted, BattleVoted)
    assert (voted.vote, voted.voted_at) == (Vote.B, row.received_at)

    await world.http.post("/v1/battles", json=submission(vote="b"))  # it is the same vote
    assert len(await world.published()) == 2
    await world.happens(voted)
    await lose_the_stream(world)
    assert await reconciling.reconcile(datetime.now(UTC) + 20 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleSubmitted]


async def test_a_battle_whose_vote_was_not_published_is_published_with_it(
    world: World, reconciling: Reconciler
) -> None:
    async def publish(event: Event) -> None:
        if isinstance(event, BattleVoted):
            raise Outage(Reason.STORE_UNAVAILABLE, "the broker does not answer")
        await world.gateway.intake.publish(event)

    intake = replace(world.gateway.intake, publish=publish)
    with pytest.raises(Outage):
        await intake.submit(parse_submission(submission(vote="a")), datetime.now(UTC))
    assert await world.published() == []
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleVoted, BattleSubmitted]


async def test_a_battle_whose_stream_was_lost_continues_where_it_was(
    world: World, reconciling: Reconciler
) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped(), story.indexed(), story.retrieved())
    await lose_the_stream(world)
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now + 5 * MINUTE) == 0
    assert await reconciling.reconcile(now + 20 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleRetrieved]


async def test_a_battle_that_waits_in_a_stream_is_left_alone(world: World, reconciling: Reconciler) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted())
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert len(await world.published()) == 1


async def test_a_battle_that_never_gets_on_ends_with_a_reason(world: World, reconciling: Reconciler) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped())
    now = datetime.now(UTC)
    for turn in range(1, 4):
        await lose_the_stream(world)
        assert await reconciling.reconcile(now + turn * 20 * MINUTE) == 1
    await lose_the_stream(world)
    assert await reconciling.reconcile(now + 80 * MINUTE) == 1
    (failed,) = await world.published()
    assert isinstance(failed, BattleFailed)
    assert failed.failure.reason is Reason.DEADLINE
    assert "sent to the stages 3 times more" in failed.failure.detail
    await world.happens(failed)
    assert await state_of(world) is BattleState.FAILED


async def test_two_reconcilers_republish_a_battle_once(world: World, reconciling: Reconciler) -> None:
    await world.http.post("/v1/battles", json=submission())
    (ghost,) = await reconciling.unfinished.unrecorded(datetime.now(UTC) + MINUTE, 10)
    assert await reconciling.unfinished.claim(ghost, datetime.now(UTC))
    assert not await reconciling.unfinished.claim(ghost, datetime.now(UTC))


async def test_battles_that_have_ended_are_not_looked_at(world: World, reconciling: Reconciler) -> None:
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*Story(battle()).told())
    await lose_the_stream(world)
    assert await reconciling.unfinished.running(None, 10) == []
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
