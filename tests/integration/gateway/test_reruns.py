"""Old battles that a stage evaluates again: over HTTP, by the client and by the command."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from nuggetstream.client import AsyncClient, Invalid
from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.reruns import RerunSource, RerunView
from services.recorder.reconciler import reconciler
from services.runtime.bus import ensure
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.spend.spend import DatabaseSpendStore
from services.wire import topology
from services.wire.codec import decode
from tests.e2e.processes import run_here
from tests.integration.gateway.test_nugget_edits import add, edit
from tests.integration.gateway.world import LABELS, NUGGETS, Story, World, battle, submission

SINCE = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


async def scored(world: World, *names: str) -> None:
    """Battles that have ended, with outcomes by nuggets and by the judge."""
    for name in names:
        await world.http.post("/v1/battles", json=submission(id=name))
        await world.happens(*Story(battle(id=name)).told())


async def started(client: AsyncClient, stage: str, name: str = "again", **more: str) -> RerunView:
    return await client.rerun(arena="demo", since=SINCE, stage=stage, name=name, **more)


async def compared(client: AsyncClient, stage: str, name: str = "again") -> RerunView:
    return await client.compared_rerun(arena="demo", since=SINCE, stage=stage, name=name)


async def input_of(world: World, reader: str) -> events.Event:
    """What was published last for one stage or evaluator alone."""
    message = await world.bus.js.get_last_msg("ARENA", f"arena.v1.grading.{reader}")
    return decode((message.headers or {})["schema"], message.data or b"")


async def test_the_judge_alone_runs_again_and_the_new_verdict_counts_beside_the_old_one(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides", "moons")
    assert (await started(client, "judge")).started == 2
    again = await started(client, "judge")
    assert (again.battles, again.started, again.running) == (2, 0, 0)  # twice is once
    state = (await world.bus.js.stream_info("ARENA", subjects_filter="arena.v1.grading.>")).state
    assert state.subjects == {"arena.v1.grading.judge": 2}
    consumer = await world.bus.js.consumer_info("ARENA", "judge")
    assert consumer.num_pending == 2
    assert (await world.bus.js.consumer_info("ARENA", "nuggetizer")).num_pending == 0

    before = await client.battle("tides")
    assert (before.state, before.judgments[0].winner) == (BattleState.RUNNING, Vote.A)  # until the new one
    assert (await compared(client, "judge")).running == 2
    read = await input_of(world, "judge")
    assert isinstance(read, events.BattleRetrieved)
    for name, winner in (("tides", Vote.B), ("moons", Vote.A)):
        await world.happens(replace(Story(battle(id=name)).judged(winner), key=f"again {name}"))
    after = await client.battle("tides")
    assert (after.state, after.judgments[0].winner) == (BattleState.SCORED, Vote.B)
    found = await compared(client, "judge")
    assert (found.battles, found.running, found.failed) == (2, 0, 0)
    assert found.sources == [RerunSource(source="judge:pairwise", battles=2, changed=1)]
    judged = [event.name for event in await world.gateway.battles.events_of("tides")]
    assert judged.count("judged") == 2
    assert (await started(client, "judge", name="once more")).started == 2


async def test_a_new_list_that_decides_nothing_takes_the_old_preference_away(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides")
    assert (await started(client, "nuggetizer")).started == 1
    assigned = Story(battle(id="tides")).assigned()
    unlabelled = replace(assigned.assignment_set, assignments=())
    nothing = replace(assigned.nugget_list, nuggets=())
    await world.happens(replace(assigned, key="again", nugget_list=nothing, assignment_set=unlabelled))
    outcomes = await world.gateway.outcomes.of_battle("tides")
    assert [outcome.source for outcome in outcomes] == ["judge:pairwise"]
    assert (await compared(client, "nuggetizer")).sources == []


async def test_the_assigner_labels_all_nuggets_again_with_the_model_that_is_named(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides")
    with pytest.raises(Invalid, match="only the assigner"):
        await started(client, "judge", model="other")
    assert (await started(client, "assigner", model="other")).started == 1
    read = await input_of(world, "assigner")
    assert isinstance(read, events.BattleNuggetized)
    assert (read.label_model, read.labels) == ("other", None)
    assert read.nugget_list.nuggets == NUGGETS


async def test_a_list_that_people_edited_is_not_replaced_and_a_battle_that_runs_is_skipped(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides")
    reply = await world.http.patch("/v1/battles/tides/nuggets", json=edit(add("The Sun adds spring tides.")))
    assert reply.status_code == 202
    assert (await started(client, "nuggetizer")).running == 1
    changed = Story(battle(id="tides")).assigned()
    [nuggetized] = [event for event in await world.published() if isinstance(event, events.BattleNuggetized)]
    labels = [replace(LABELS[0], nugget_id=nugget.id) for nugget in nuggetized.nugget_list.nuggets]
    both = [replace(label, side=side) for label in labels for side in Side]
    await world.happens(
        replace(
            changed,
            key="edited",
            nugget_list=nuggetized.nugget_list,
            assignment_set=replace(changed.assignment_set, assignments=tuple(both)),
        )
    )
    assert (await started(client, "nuggetizer")).left_out == 1
    assert (await started(client, "judge")).started == 1


async def test_an_evaluator_runs_again_on_its_own_subject(world: World, client: AsyncClient) -> None:
    await scored(world, "tides")
    assert (await started(client, "answer_quality")).started == 1
    assert isinstance(await input_of(world, "answer_quality"), events.BattleRetrieved)
    assert (await client.battle("tides")).state is BattleState.SCORED
    with pytest.raises(Invalid, match="choose one of retriever, nuggetizer, assigner, judge, answer_quality"):
        await started(client, "utility")


async def test_a_run_that_gets_lost_is_published_again_for_its_stage_alone(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides")
    await started(client, "judge")
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())
    reconciling = reconciler(world.bus, world.database, world.blobs)
    assert await reconciling.reconcile(datetime.now(UTC) + timedelta(minutes=20)) == 1
    assert isinstance(await input_of(world, "judge"), events.BattleRetrieved)


async def test_a_run_that_fails_is_a_failure_and_the_old_preference_stays(
    world: World, client: AsyncClient
) -> None:
    await scored(world, "tides")
    await started(client, "judge")
    await world.happens(Story(battle(id="tides")).failed(Stage.JUDGE, Reason.LLM_REFUSED))
    assert (await compared(client, "judge")).failed == 1
    assert [entry.stage for entry in await client.admin_failures()] == ["judge"]
    outcomes = {outcome.source: outcome.winner for outcome in await world.gateway.outcomes.of_battle("tides")}
    assert outcomes["judge:pairwise"] is Vote.A


async def test_the_command_estimates_asks_starts_waits_and_compares(world: World) -> None:
    await scored(world, "tides", "moons")
    store, day = DatabaseSpendStore(world.database), datetime.now(UTC).date()
    for stage in ("judge", "nuggetizer"):
        for name in ("tides", "moons"):
            price = Money(Decimal("0.25"), "USD")
            await store.add(Entry(name, stage, "m", day, Tokens(100, 10), price, "usage"))
    arguments = ("rerun", "--arena", "demo", "--stage", "judge", "--since", "2020-01-01")
    url = ("--url", str(world.http.base_url))
    code, output = await asyncio.to_thread(run_here, *arguments, *url)
    assert (code, "Start? [y/N]" in output) == (1, True)  # nobody confirms
    assert "2 battles, for which these stages made 2 calls before:" in output
    assert "2 calls           200 tokens in          20 out  0.5000 USD" in output
    async with AsyncClient(str(world.http.base_url)) as client:
        assert (await compared(client, "judge", "2020-01-01T00:00:00")).battles == 0
        running = asyncio.create_task(asyncio.to_thread(run_here, *arguments, "--yes", "--rate", "100", *url))
        while (await compared(client, "judge", "2020-01-01T00:00:00")).battles < 2:
            await asyncio.sleep(0.05)
    for name in ("tides", "moons"):
        await world.happens(replace(Story(battle(id=name)).judged(Vote.B), key=f"again {name}"))
    code, output = await running
    assert code == 0, output
    assert "2 started, 0 were part of" in output
    assert output.endswith(
        "2 battles in this rerun, 0 failed\n  judge:pairwise: 2 of 2 preferences changed\n"
    )
    code, output = await asyncio.to_thread(run_here, *arguments, "--yes", *url)
    assert "0 started, 2 were part of '2020-01-01T00:00:00' before" in output
