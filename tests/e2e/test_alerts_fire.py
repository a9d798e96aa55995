"""Faults of the manual are made on real services, and a real Prometheus has the alert of each.

Where an alert looks back over minutes, the test looks back over seconds; the expressions are the shipped ones
otherwise. promtool tests them with their own times (`make manifests`).
"""

import asyncio
import itertools
import json
import re
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import make_url

from nuggetstream.client import AsyncClient
from services.runtime.bus import Bus, BusSettings
from services.runtime.nats_server import NatsServer
from services.wire import subjects
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import Platform, separate_processes
from tests.e2e.prometheus import Prometheus, alerts, prometheus, until
from tests.postgres import postgresql

PATIENCE = 60.0  # seconds for an alert to appear
LOOKBACK = "10s"  # in place of the minutes and hours of an alert
PRICES = '[models."m"]\ninput = 1000\noutput = 1000\n'
# Of one service alone: its first call of the day would cost more.
OWN = {"judge": {"llm_day_money": "0.000001"}}


def hurried(name: str) -> str:
    """The expression of an alert, which looks back over seconds."""
    (rule,) = [rule for rule in alerts() if rule["alert"] == f"Nuggetstream{name}"]
    expression = re.sub(r"\[\w+\]", f"[{LOOKBACK}]", rule["expr"])
    return re.sub(r"offset \w+", f"offset {LOOKBACK}", expression)


@dataclass
class Watched:
    """A platform that a Prometheus scrapes, and what it needs."""

    platform: Platform
    client: AsyncClient
    prometheus: Prometheus
    broker: NatsServer
    database: Any
    first: ModelEndpoint
    fallback: ModelEndpoint

    async def fires(self, name: str, **labels: str) -> None:
        """Wait until an alert has a series with these labels."""

        async def has() -> bool:
            series = [sample["metric"] for sample in await self.prometheus.query(hurried(name))]
            return any(labels.items() <= metric.items() for metric in series)

        try:
            await until(has, PATIENCE)
        except TimeoutError:
            found = await self.prometheus.query(hurried(name))
            pytest.fail(f"{name} {labels} does not fire: {found}")

    async def is_scraped(self) -> bool:
        """Whether Prometheus has two values of every service, without which nothing increases."""
        twice = await self.prometheus.query(f"count_over_time(up[{LOOKBACK}]) > 1")
        return len(twice) == len(self.platform.processes)

    async def is_quiet(self, name: str) -> None:
        """Wait until an alert has no series."""

        async def quiet() -> bool:
            return await self.prometheus.query(hurried(name)) == []

        await until(quiet, PATIENCE)

    async def publish(self, subject: str, body: bytes) -> None:
        async with Bus.connect(BusSettings(servers=(self.broker.url,), name="test")) as bus:
            await bus.js.publish(subject, body)


async def the_first_model_is_away(here: Watched) -> None:
    """The fallback answers, then it is away, too, and then both are back."""
    here.first.status = 503
    await here.client.submit(battle(1))
    await here.fires("FallbackInUse")
    await here.is_quiet("ModelAway")
    here.fallback.status = 503
    await here.client.submit(battle(2))
    await here.fires("ModelAway")
    await here.fires("Outage")
    here.first.status = here.fallback.status = 200
    numbers = itertools.count(10)

    async def all_quiet() -> bool:
        await here.client.submit(battle(next(numbers)))  # whose calls notice it
        expressions = map(hurried, ("FallbackInUse", "ModelAway", "Outage"))
        return not any([await here.prometheus.query(expression) for expression in expressions])

    await until(all_quiet, PATIENCE, pause=2)


async def a_message_is_given_up(here: Watched) -> None:
    await here.is_quiet("DeadLetters")
    await here.publish(subjects.INGEST, b"\xff no battle")
    await here.fires("DeadLetters", reason="undecodable")


async def a_stage_stops(here: Watched) -> None:
    """It hangs, then it is killed while a battle waits for it."""
    stage = here.platform.processes["indexer"]
    assert stage.child is not None
    stage.child.send_signal(signal.SIGSTOP)
    try:
        await here.fires("StageDown", stage="indexer")
    finally:
        stage.child.send_signal(signal.SIGCONT)
    await here.is_quiet("StageDown")
    await stage.kill()
    await here.client.submit(battle(3))
    await here.fires("StageDown", stage="indexer")
    await here.fires("StageStalled", stage="indexer")
    await stage.start()
    await here.is_quiet("StageStalled")


async def the_database_is_away(here: Watched) -> None:
    await asyncio.to_thread(here.database.stop)
    await here.fires("DatabaseAway", service="gateway")
    async with httpx2.AsyncClient(base_url=here.platform.url, timeout=30) as http:

        async def requests_fail() -> bool:
            assert (await http.get("/v1/battles/battle-001")).status_code >= 500
            return bool(await here.prometheus.query(hurried("RequestsFail")))

        await until(requests_fail, PATIENCE)
    await asyncio.to_thread(here.database.start)
    await here.is_quiet("DatabaseAway")


async def the_broker_is_away(here: Watched) -> None:
    await here.broker.kill()
    await here.fires("BrokerUnknown")
    await here.broker.start()
    await here.is_quiet("BrokerUnknown")


async def all_end(here: Watched) -> None:
    """Nothing was lost meanwhile: every battle has ended."""

    async def have_ended() -> bool:
        return all([(await here.client.battle(battle(n)["id"])).state != "running" for n in range(4)])

    await until(have_ended, 120)


@pytest.mark.full  # two minutes; promtool tests the same alerts on written series
@pytest.mark.postgresql
@pytest.mark.timeout(600)
async def test_each_fault_has_its_alert(tmp_path: Path) -> None:
    ports = free_ports(2)
    endpoints = ModelEndpoint(), ModelEndpoint()
    (tmp_path / "prices.toml").write_text(PRICES)
    settings = {
        "llm_api_key": "sk-test",
        "llm_base_url": f"http://127.0.0.1:{ports[0]}/v1",
        "llm_model": "m",
        "llm_fallback": json.dumps({"base_url": f"http://127.0.0.1:{ports[1]}/v1", "api_key": "sk-fallback"}),
        "llm_prices": str(tmp_path / "prices.toml"),
    }
    async with AsyncExitStack() as stack:
        database = stack.enter_context(postgresql())
        broker = NatsServer(tmp_path / "nats")
        settings["database_url"] = (
            make_url(database.get_uri()).set(drivername="postgresql+asyncpg").render_as_string(False)
        )
        for endpoint, port in zip(endpoints, ports, strict=True):
            await stack.enter_async_context(endpoint.listening(port))
        platform = await stack.enter_async_context(
            separate_processes(tmp_path, broker=broker, own=lambda name: OWN.get(name, {}), **settings)
        )
        targets = {name: process.metrics_port for name, process in platform.processes.items()}
        here = Watched(
            platform=platform,
            client=await stack.enter_async_context(AsyncClient(platform.url, patience=60)),
            prometheus=await stack.enter_async_context(prometheus(tmp_path, targets)),
            broker=broker,
            database=database,
            first=endpoints[0],
            fallback=endpoints[1],
        )
        await until(here.is_scraped, PATIENCE)
        await here.client.submit(battle(0))
        await here.fires("BudgetExhausted")
        await a_message_is_given_up(here)
        await the_first_model_is_away(here)
        await a_stage_stops(here)
        await the_database_is_away(here)
        await the_broker_is_away(here)
        await all_end(here)
