"""The process that sends webhooks is killed in the middle of a delivery, and nothing is lost.

A real gateway in its own process, with a broker and a database on disk, and a real receiver.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import update

from nuggetstream.client import webhook_event
from services.runtime.nats_server import NatsServer
from services.store.access.webhook_tables import webhooks
from services.store.access.webhooks import Webhooks
from services.store.database import Database
from tests.e2e.ports import free_ports
from tests.e2e.processes import Process, clean_environment, run_command
from tests.integration.gateway.webhooks.receiver import Arrived, Receiver, receiver
from tests.integration.gateway.webhooks.test_delivery import ALL, added, happens
from tests.integration.gateway.world import Story, battle

HELD = 4  # the request that is not answered before the kill


@asynccontextmanager
async def gateway(folder: Path, target: Receiver) -> AsyncIterator[tuple[Process, Database]]:
    """A gateway process that may send to a receiver, and its database."""
    (port,) = free_ports(1)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(NatsServer(folder / "nats"))
        environment = clean_environment(
            nats_url=server.url,
            database_url=f"sqlite+aiosqlite:///{folder / 'record.db'}",
            grace="5",
            webhook_allowed_hosts=target.host,
        )
        for command in ("migrate", "bootstrap"):
            code, output = await run_command(environment, command)
            assert code == 0, output
        arguments = ("--grpc-port", "0", "--metrics-port", "0", "--http-port", str(port))
        process = Process("gateway", arguments, environment, folder / "gateway.log")
        database = Database(environment["NUGGETSTREAM_DATABASE_URL"])
        stack.push_async_callback(database.close)
        await process.start()
        stack.push_async_callback(process.stop)
        await process.ready()
        yield process, database


async def the_lease_ends(database: Database, webhook_id: str) -> None:
    """What a minute does: the lease of the process that was killed is over."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    over = update(webhooks).where(webhooks.c.id == webhook_id).values(lease_until=past)
    assert await database.write(lambda tx: tx.execute(over).rowcount) == 1


async def test_what_a_killed_gateway_was_sending_arrives_after_its_restart(tmp_path: Path) -> None:
    killed = asyncio.Event()

    async def holds_one(_: Arrived) -> int:
        if len(target.arrived) >= HELD and not killed.is_set():
            await killed.wait()
            return 503  # nobody reads it: the connection is closed
        return 200

    async with (
        receiver(holds_one) as target,
        gateway(tmp_path, target) as (process, database),
    ):
        await happens(database, *Story(battle()).told())
        hook = await added(database, target, cursor=0)
        await target.until(lambda: len(target.arrived) == HELD)
        before = [*target.arrived]
        assert len(target.accepted) == HELD - 1
        await process.kill()
        killed.set()
        stored = await Webhooks(database).get(hook.id)
        assert stored is not None
        assert stored.accepted_at is None  # the process could store nothing of this round
        await the_lease_ends(database, hook.id)
        await process.start()
        await process.ready()
        await target.until(lambda: {each.name[2] for each in target.accepted} == {*ALL})
        again = target.arrived[HELD:]
    assert again[0].name == before[0].name  # it goes on from the stored cursor
    assert before[-1].name in {each.name for each in again}
    ids = {each.name: each.id for each in before}
    for each in again:
        assert ids.setdefault(each.name, each.id) == each.id  # what comes twice has the same id
    assert len(set(ids.values())) == len(ids) == len(ALL)
    for each in target.accepted:
        assert webhook_event(hook.secret, each.headers, each.body) is not None
