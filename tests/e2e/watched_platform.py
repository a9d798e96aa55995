"""Services whose alerts a Prometheus watches, each set up so that its fault can be made."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import make_url

from nuggetstream.client import AsyncClient
from services.offline.app import create_app
from services.runtime.bus import Bus, BusSettings
from services.runtime.nats_server import NatsServer
from services.store.database import Database
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import SMALLEST_STREAM_BYTES
from tests.e2e.hurried_alerts import PATIENCE, Watch, hurried_alerts
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.persuaded_model import persuaded
from tests.e2e.ports import free_ports
from tests.e2e.processes import Platform, separate_processes
from tests.e2e.prometheus import prometheus, until
from tests.e2e.test_starting import up
from tests.forked import forked
from tests.integration.gateway.webhooks.receiver import Receiver, receiver, statuses
from tests.postgres import postgresql

DATABASE_BYTES = 64_000_000
PRICES = '[models."m"]\ninput = 100000\noutput = 100000\n'


@dataclass(kw_only=True)
class Watched:
    """A platform whose alerts are watched, and what it needs."""

    platform: Platform
    alerts: Watch
    client: AsyncClient
    broker: NatsServer
    postgres: Any
    database: Database
    first: ModelEndpoint  # of the judge
    only: ModelEndpoint  # of the nuggetizer
    embedded: int  # process of an `up` of its own
    receivers: list[Receiver]

    async def waiting(self, bus: Bus, stage: str, count: int) -> None:
        """Wait until as many messages wait for a stage that asks for none."""

        async def wait() -> bool:
            info = await bus.js.consumer_info(STREAM_ARENA, stage)
            return info.num_pending == count and not (info.num_waiting and not info.paused)

        await until(wait, PATIENCE)

    @asynccontextmanager
    async def bus(self) -> AsyncIterator[Bus]:
        async with Bus.connect(BusSettings(servers=(self.broker.url,), name="test")) as bus:
            yield bus


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Watched]:
    """Services, each with what its fault needs, and what they need."""
    ports = free_ports(3)
    endpoints = [ModelEndpoint(model=persuaded(create_app(None))) for _ in ports]
    endpoints[0].answering.clear()  # the canary battles wait until the alerts are watched
    first, only, shared = (f"http://127.0.0.1:{port}/v1" for port in ports)
    (folder / "prices.toml").write_text(PRICES)
    async with AsyncExitStack() as stack:
        postgres = stack.enter_context(postgresql())
        url = make_url(postgres.get_uri()).set(drivername="postgresql+asyncpg").render_as_string(False)
        for endpoint, port in zip(endpoints, ports, strict=True):
            await stack.enter_async_context(endpoint.listening(port))
        receivers = [
            await stack.enter_async_context(receiver(statuses(status))) for status in (500, 422, 410)
        ]
        own = {
            "nuggetizer": {"llm_base_url": only, "llm_concurrency": "2"},
            "assigner": {"llm_day_money": "0.000001"},  # its first call would cost more
            "judge": {
                "llm_base_url": first,
                "llm_fallback": json.dumps({"base_url": shared}),
                "canary_seconds": "3600",
            },
            "recorder": {"database_max_bytes": str(DATABASE_BYTES)},
        }
        settings = {
            "database_url": url,
            "llm_api_key": "sk-test",
            "llm_base_url": shared,
            "llm_model": "m",
            "llm_prices": str(folder / "prices.toml"),
            "nats_stream_bytes": str(SMALLEST_STREAM_BYTES),
            "webhook_allowed_hosts": ",".join(each.host for each in receivers),
        }
        begin, broker = partial(forked, module="tests.e2e.hurried_services"), NatsServer(folder / "nats")
        platform = await stack.enter_async_context(
            separate_processes(folder, begin, broker, lambda name: own.get(name, {}), **settings)
        )
        embedded, banner = await stack.enter_async_context(up(folder / "up"))
        database = Database(url)
        stack.push_async_callback(database.close)
        targets = {name: process.metrics_port for name, process in platform.processes.items()}
        jobs = [restarts_of(banner["metrics"])]
        server = await stack.enter_async_context(prometheus(folder, targets, hurried_alerts(), jobs))
        alerts = Watch(server)
        await stack.enter_async_context(alerts.looking())
        yield Watched(
            platform=platform,
            alerts=alerts,
            client=await stack.enter_async_context(AsyncClient(platform.url, patience=60)),
            broker=broker,
            postgres=postgres,
            database=database,
            first=endpoints[0],
            only=endpoints[1],
            embedded=embedded.pid,
            receivers=receivers,
        )


def restarts_of(metrics: str) -> dict[str, Any]:
    """A scrape of what only `up` counts; its stages are not those of the other services."""
    keep = {"source_labels": ["__name__"], "regex": "nuggetstream_broker_restarts_total", "action": "keep"}
    target = {"targets": [urlsplit(metrics).netloc]}
    return {"job_name": "up", "static_configs": [target], "metric_relabel_configs": [keep]}
