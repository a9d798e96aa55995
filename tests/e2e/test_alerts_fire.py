"""Each fault of the manual is made on real services, and a real Prometheus has its alert.

The faults are made at once where none hides another. See `hurried_alerts` for the times.
"""

import asyncio
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import psutil
import pytest
from sqlalchemy import text, update

from nuggetstream.domain.event import BattleScraped
from services.runtime.bus import Bus
from services.store.access.webhook_tables import webhook_deliveries, webhooks
from services.store.database import Database
from services.store.work.pending import work
from services.wire.subjects import DEAD, INGEST, STREAM_ARENA, STREAM_DEAD, SUBJECTS
from tests.e2e.battles import battle
from tests.e2e.hurried_alerts import PATIENCE, names
from tests.e2e.prometheus import until
from tests.e2e.watched_platform import DATABASE_BYTES, Watched, watched

# The alerts that nothing here can cause; promtool tests them on written series.
NOT_MADE = {
    "BrokerDisk": "only a kubelet reports the disks of volume claims",
    "DatabaseDisk": "only a kubelet reports the disks of volume claims",
}
MEGABYTE = 1_000_000
# Battles by number: they wait for a paused stage, for one that is killed, and one is lost.
PAUSED, KILLED, LOST = range(1, 4), 4, 5
# These end with their faults; the others look back for longer, or last until somebody acts.
ENDING = (
    "BrokerFull", "BrokerUnknown", "DatabaseAway", "DatabaseFull", "FallbackInUse", "LagAge", "ModelAway",
    "Outage", "OutboxWaits", "RequestsFail", "StageDown", "StageNotPulling", "StageStalled",
)  # fmt: skip


async def the_judge_obeys_and_its_first_model_is_away(here: Watched) -> None:
    here.first.status = 401
    here.first.answering.set()  # the call that has begun
    await here.alerts.fires("FallbackInUse", service="judge")
    await here.alerts.fires("CanaryFlipped", evaluator="pairwise", state="flipped")
    await here.alerts.fires("CanaryFailed", evaluator="pairwise")
    await here.alerts.fires("CostBurn")


async def a_paused_stage_falls_behind_and_its_model_is_away(here: Watched, bus: Bus) -> None:
    longer = f'min_over_time(nuggetstream_consumer_lag{{stage="nuggetizer"}}[2s]) == {len(PAUSED)}'
    await until(lambda: here.alerts.holds(longer), PATIENCE)
    assert not here.alerts.has_fired() & {"LagAge", "ModelAway", "Outage", "BudgetExhausted"}
    await bus.js.resume_consumer(STREAM_ARENA, "nuggetizer")
    await here.alerts.fires("LagAge", stage="nuggetizer")
    await here.alerts.fires("ModelAway", service="nuggetizer")
    await here.alerts.fires("Outage", stage="nuggetizer")
    here.only.status = 200
    await here.alerts.fires("BudgetExhausted")  # of the assigner, the next stage


async def a_stage_hangs_and_is_killed(here: Watched, bus: Bus) -> None:
    """A battle waits for it, and the message of another one is lost, which is found after an hour."""
    stage = here.platform.processes["indexer"]
    assert stage.child is not None
    stage.child.send_signal(signal.SIGSTOP)
    await here.alerts.fires("StageDown", stage="indexer")
    stage.arguments += ("--metrics-port", str(stage.metrics_port))  # the same one when it starts again
    await stage.kill()
    await here.waiting(bus, "indexer", 0)
    for count, number in enumerate((KILLED, LOST), start=1):
        await here.client.submit(battle(number))
        await here.waiting(bus, "indexer", count)
    lost = await bus.js.get_last_msg(STREAM_ARENA, SUBJECTS[BattleScraped])
    assert await bus.js.delete_msg(STREAM_ARENA, lost.seq or 0)
    await until(lambda: an_hour_passes(here.database, battle(LOST)["id"], "indexer"), PATIENCE)
    await here.alerts.fires("StageStalled", stage="indexer")
    await here.alerts.fires("StageNotPulling", stage="indexer")
    await here.alerts.fires("Reconciling", action="failed")
    await stage.start()
    await stage.ready()


async def the_pipeline_stands_still(here: Watched, bus: Bus) -> None:
    """Before and after the stage that dies, once the first battles have passed it."""
    await here.waiting(bus, "nuggetizer", len(PAUSED))
    await asyncio.gather(
        a_paused_stage_falls_behind_and_its_model_is_away(here, bus), a_stage_hangs_and_is_killed(here, bus)
    )


async def an_hour_passes(database: Database, battle_id: str, stage: str) -> bool:
    """Do what an hour does to work that nobody does: its input was sent in vain. False if there is none."""
    of_battle = update(work).where(work.c.battle_id == battle_id, work.c.stage == stage)
    past = datetime.now(UTC) - timedelta(hours=1)
    return bool(await database.execute(of_battle.values(attempts=3, waits_since=past)))


async def some_messages_are_none(here: Watched, bus: Bus) -> None:
    async with asyncio.timeout(PATIENCE):
        while "ErrorRatio" not in here.alerts.has_fired():  # it looks back for a few scrapes alone
            await bus.js.publish(INGEST, b"\xff no battle")
            await asyncio.sleep(1)
    await here.alerts.fires("ErrorRatio", stage="intake")
    await here.alerts.fires("DeadLetters", stage="intake", reason="undecodable")


async def a_stream_fills(here: Watched, bus: Bus) -> None:
    for _ in range(6):
        await bus.js.publish(f"{DEAD}.test", bytes(MEGABYTE * 85 // 100))
    await here.alerts.fires("BrokerFull", stream=STREAM_DEAD)
    await here.alerts.fires("StreamFilling", stream=STREAM_DEAD)
    await bus.js.purge_stream(STREAM_DEAD)


async def the_database_fills(here: Watched) -> None:
    rows = (DATABASE_BYTES - 12 * MEGABYTE) // 2000
    fill = "CREATE TABLE ballast AS SELECT repeat(md5(n::text), 59) FROM generate_series(1, :rows) n"
    await here.database.execute(text(fill), {"rows": rows})
    await here.alerts.fires("DatabaseFull")
    await here.database.execute(text("DROP TABLE ballast"))


async def the_broker_of_up_ends_three_times(here: Watched) -> None:
    def brokers() -> list[psutil.Process]:
        return [each for each in psutil.Process(here.embedded).children() if each.name() == "nats-server"]

    async def runs() -> bool:
        return bool(brokers())

    for _ in range(3):
        await until(runs, PATIENCE)
        (broker,) = brokers()
        broker.kill()
        await asyncio.to_thread(broker.wait, PATIENCE)
    await here.alerts.fires("BrokerRestarts")


async def receivers_accept_nothing(here: Watched) -> None:
    """One answers 500, one rejects every event, and one wants no more."""
    _, rejecting, _ = [await here.client.add_webhook(each.url, arena="test") for each in here.receivers]
    async with asyncio.timeout(PATIENCE):
        while "WebhookGivenUp" not in here.alerts.has_fired():
            await a_minute_passes(here.database, rejecting.id)
            await asyncio.sleep(0.5)
    await here.alerts.fires("WebhookOff")
    await here.alerts.fires("WebhookBehind")


async def a_minute_passes(database: Database, webhook: str) -> None:
    """Do what a minute does to a webhook that pauses: every event is due."""
    await database.execute(update(webhooks).where(webhooks.c.id == webhook).values(paused_until=None))
    waiting, now = webhook_deliveries.c, datetime.now(UTC)
    due = update(webhook_deliveries).where(waiting.webhook_id == webhook, waiting.next_at > now)
    await database.execute(due.values(next_at=now))


async def the_broker_is_away(here: Watched) -> None:
    assert not here.alerts.has_fired() & {"BrokerUnknown", "OutboxWaits"}
    await here.broker.kill()
    for number in range(101):
        await here.client.vote(battle(PAUSED[0])["id"], "ab"[number % 2])
    await here.alerts.fires("OutboxWaits")
    await here.alerts.fires("BrokerUnknown")


async def requests_fail(here: Watched) -> None:
    """Somebody locks a table, which uses up the gateway's connections; then the database is away."""
    assert not here.alerts.has_fired() & {"DatabaseConnections", "DatabaseAway", "RequestsFail"}
    async with (
        httpx2.AsyncClient(base_url=here.platform.url, timeout=PATIENCE) as http,
        asyncio.TaskGroup() as group,
    ):

        async def read() -> None:
            while not {"DatabaseAway", "RequestsFail"} <= here.alerts.has_fired():
                await http.get(f"/v1/battles/{battle(PAUSED[0])['id']}")
                await asyncio.sleep(0.1)

        for _ in range(8):
            group.create_task(read())
        async with here.database.transaction() as tx:
            await tx.execute(text("LOCK TABLE battles IN ACCESS EXCLUSIVE MODE"))
            await here.alerts.fires("DatabaseConnections", service="gateway")
        await asyncio.to_thread(here.postgres.stop)
        await here.alerts.fires("DatabaseAway", service="gateway")
        await here.alerts.fires("RequestsFail")


async def everything_ends(here: Watched) -> None:
    """Nothing was lost meanwhile, and the alerts have ended with their faults."""

    async def have_ended() -> bool:
        views = [await here.client.battle(battle(number)["id"]) for number in (*PAUSED, KILLED, LOST)]
        return all(view.state != "running" for view in views)

    await until(have_ended, PATIENCE)
    await here.alerts.ends(*ENDING)


@pytest.mark.postgresql
@pytest.mark.timeout(600)
async def test_each_fault_has_its_alert(tmp_path: Path) -> None:
    async with watched(tmp_path) as here, here.bus() as bus:
        await here.alerts.is_quiet(len(here.platform.processes) + 1)
        end = datetime.now(UTC) + timedelta(hours=1)
        await bus.js.pause_consumer(STREAM_ARENA, "nuggetizer", end.isoformat())
        here.only.status = 503
        for number in PAUSED:
            await here.client.submit(battle(number))
        async with asyncio.TaskGroup() as group:
            group.create_task(the_broker_of_up_ends_three_times(here))
            group.create_task(the_database_fills(here))
            group.create_task(receivers_accept_nothing(here))
            group.create_task(the_judge_obeys_and_its_first_model_is_away(here))
            group.create_task(a_stream_fills(here, bus))
            group.create_task(some_messages_are_none(here, bus))
            group.create_task(the_pipeline_stands_still(here, bus))
        await the_broker_is_away(here)
        await requests_fail(here)
        await asyncio.to_thread(here.postgres.start)
        await here.broker.start()
        await everything_ends(here)
        assert here.alerts.has_fired() == names() - NOT_MADE.keys()
