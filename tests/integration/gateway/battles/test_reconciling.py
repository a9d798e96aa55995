"""Battles that no stage works on: they are sent to the stages again, or end with a reason."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from nats.js.errors import NotFoundError
from sqlalchemy import update

from nuggetstream.domain.event import (
    BattleFailed,
    BattleRetrieved,
    BattleScraped,
    BattleSubmitted,
    Event,
)
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from services.recorder.reconciler import Reconciler, reconciler
from services.recorder.waiting import oldest_in_arena
from services.runtime.bus import ensure
from services.runtime.errors import Outage
from services.store.tables import events
from services.store.work.pending import work
from services.wire import topology
from tests.integration.gateway.world import Story, World, battle, submission

MINUTE = timedelta(minutes=1)


@pytest.fixture
def reconciling(world: World) -> Reconciler:
    return reconciler(world.bus, world.database, world.blobs)


async def state_of(world: World) -> BattleState:
    row = await world.gateway.battles.get("tides")
    assert row is not None
    return row.state


async def lose_the_stream(world: World) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())


async def test_a_battle_whose_stream_was_lost_continues_where_it_was(
    world: World, reconciling: Reconciler
) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped(), story.indexed(), story.retrieved())
    await lose_the_stream(world)
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now + 5 * MINUTE) == 0
    assert await reconciling.reconcile(now + 20 * MINUTE) == 2  # one for the nuggetizer and one for the judge
    assert [type(event) for event in await world.published()] == [BattleRetrieved] * 2


async def test_a_battle_that_waits_in_a_stream_is_left_alone(world: World, reconciling: Reconciler) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted())
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert len(await world.published()) == 1


async def test_a_message_that_is_acked_meanwhile_does_not_hide_those_that_wait(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tides", "winds"):
        await world.http.post("/v1/battles", json=submission(id=name))
    get_msg, second = world.bus.js.get_msg, await world.bus.js.get_msg("ARENA", 2)

    async def after_the_first_is_acked(*arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        await world.bus.js.delete_msg("ARENA", 1)
        return await get_msg(*arguments, **options)

    monkeypatch.setattr(world.bus.js, "get_msg", after_the_first_is_acked)
    assert await oldest_in_arena(world.bus)() == second.time


async def test_without_the_stream_no_battle_counts_as_lost(world: World, reconciling: Reconciler) -> None:
    await world.http.post("/v1/battles", json=submission())
    await world.bus.js.delete_stream("ARENA")
    with pytest.raises(NotFoundError):
        await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE)


async def test_a_submission_that_waits_is_not_published_again_and_one_that_got_lost_is(
    world: World, reconciling: Reconciler
) -> None:
    await world.http.post("/v1/battles", json=submission())
    now = datetime.now(UTC)
    assert [await reconciling.reconcile(now + minutes * MINUTE) for minutes in (20, 60, 600)] == [0, 0, 0]
    assert len(await world.published()) == 1
    await lose_the_stream(world)
    assert await reconciling.reconcile(now + 10 * MINUTE) == 0
    assert await reconciling.reconcile(now + 20 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleSubmitted]


async def test_two_reconcilers_republish_a_battle_once(world: World, reconciling: Reconciler) -> None:
    await world.http.post("/v1/battles", json=submission())
    await lose_the_stream(world)
    later = datetime.now(UTC) + 20 * MINUTE
    (lost,) = await reconciling.work.waiting(later, 10)
    assert await reconciling.reconcile(later) == 1
    assert not await reconciling.work.count_attempt(lost, later)


async def test_a_republished_message_that_waits_is_not_published_again(
    world: World, reconciling: Reconciler
) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped())
    await lose_the_stream(world)
    now = datetime.now(UTC)
    async with world.database.transaction() as tx:
        await tx.execute(update(work).values(waits_since=now - 20 * MINUTE))
    assert await reconciling.reconcile(now) == 1  # the claim is older than the message
    assert await reconciling.reconcile(now + 600 * MINUTE) == 0


async def test_republications_before_the_last_event_do_not_end_a_battle(
    world: World, reconciling: Reconciler
) -> None:
    await world.http.post("/v1/battles", json=submission())
    await lose_the_stream(world)
    now = datetime.now(UTC)
    for minutes in (20, 40, 60):
        assert await reconciling.reconcile(now + minutes * MINUTE) == 1
        await lose_the_stream(world)
    story = Story(battle())
    await world.happens(story.submitted(), story.scraped())
    assert await reconciling.reconcile(now + 80 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleScraped]


async def test_a_retried_battle_has_the_time_of_a_new_one(world: World, reconciling: Reconciler) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.failed(Stage.SCRAPER))
    async with world.database.transaction() as tx:
        longer_ago = datetime.now(UTC) - timedelta(days=2)
        await tx.execute(update(work).values(waits_since=longer_ago, attempts=3))
    assert await world.gateway.intake.run_again("tides", datetime.now(UTC))
    await lose_the_stream(world)
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now + 5 * MINUTE) == 0
    assert await reconciling.reconcile(now + 20 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleSubmitted]


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
    assert "sent to it 3 times more" in failed.failure.detail
    await world.happens(failed)
    assert await state_of(world) is BattleState.FAILED


async def test_a_recorded_event_that_cannot_be_read_ends_its_own_battle_only(
    world: World, reconciling: Reconciler
) -> None:
    for name in ("tides", "winds"):
        await world.http.post("/v1/battles", json=submission(id=name))
        story = Story(battle(id=name))
        await world.happens(story.submitted(), story.scraped())
    async with world.database.transaction() as tx:
        damaged = update(events).where(events.c.battle_id == "tides", events.c.name == "scraped")
        await tx.execute(damaged.values(schema="arena.v1.Newer"))
    now = datetime.now(UTC)
    for turn in range(1, 4):
        await lose_the_stream(world)
        assert await reconciling.reconcile(now + turn * 20 * MINUTE) == 2
        assert [type(event) for event in await world.published()] == [BattleScraped]
    await lose_the_stream(world)
    await reconciling.reconcile(now + 80 * MINUTE)
    failed = [event for event in await world.published() if isinstance(event, BattleFailed)]
    assert {event.battle_id for event in failed} == {"tides", "winds"}


async def test_a_bug_with_one_battle_does_not_keep_others_from_their_inputs(
    world: World, reconciling: Reconciler
) -> None:
    async def publish(event: Event, reader: str = "") -> None:
        if isinstance(event, BattleScraped) and event.battle.id == "tides":
            raise RuntimeError("a bug")
        await reconciling.publish(event, reader)

    for name in ("tides", "winds"):
        await world.http.post("/v1/battles", json=submission(id=name))
        story = Story(battle(id=name))
        await world.happens(story.submitted(), story.scraped())
    await lose_the_stream(world)
    await replace(reconciling, publish=publish).reconcile(datetime.now(UTC) + 20 * MINUTE)
    [event] = await world.published()
    assert isinstance(event, BattleScraped)
    assert event.battle.id == "winds"


async def test_a_republication_that_the_broker_does_not_take_is_not_counted(
    world: World, reconciling: Reconciler
) -> None:
    async def publish(_: Event, reader: str = "") -> None:
        raise Outage(Reason.STORE_UNAVAILABLE, "the broker does not answer")

    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped())
    await lose_the_stream(world)
    now = datetime.now(UTC)
    for turn in range(1, 6):
        with pytest.raises(Outage):
            await replace(reconciling, publish=publish).reconcile(now + turn * 20 * MINUTE)
    assert await reconciling.reconcile(now + 120 * MINUTE) == 1
    assert [type(event) for event in await world.published()] == [BattleScraped]


async def test_battles_that_have_ended_are_not_looked_at(world: World, reconciling: Reconciler) -> None:
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*Story(battle()).told())
    await lose_the_stream(world)
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
