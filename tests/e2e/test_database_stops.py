"""PostgreSQL stops while replies of the model are on their way: each prompt is paid for once."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.client import AsyncClient
from services.store.spend.spend import DatabaseSpendStore
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.postgresql import embedded_on
from tests.e2e.with_model import ended, metric, platform, until
from tests.postgres import postgresql

BATTLES = 6
CALLS = 5  # per battle


@pytest.fixture
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of this test's own, on a Unix socket."""
    with postgresql() as server:
        yield server


def waiting() -> float:
    return metric("nuggetstream_outage_waiting")


@pytest.mark.postgresql
@pytest.mark.timeout(240)
async def test_two_stops_of_the_database_cost_no_second_call(
    tmp_path: Path, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded_on(monkeypatch, postgres.get_uri())
    monkeypatch.setattr("services.runtime.llm.limiter._FIRST", CALLS * BATTLES)  # as if it had been learnt
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    endpoint.answering.clear()
    async with (
        endpoint.listening(port),
        platform(tmp_path, port) as running,
        AsyncClient(running.url, patience=60) as client,
    ):
        for number in range(BATTLES):
            await client.submit(battle(number))
        for arrived in (2 * BATTLES, CALLS * BATTLES):  # nuggets and first verdicts, then all others
            await until(lambda: endpoint.answered.total() >= arrived)  # noqa: B023 - awaited here
            await asyncio.to_thread(postgres.stop)
            endpoint.answering.set()
            await until(lambda: waiting() > 0)
            endpoint.answering.clear()
            await asyncio.to_thread(postgres.start)
        endpoint.answering.set()
        views = [await ended(client, f"battle-{number:03}") for number in range(BATTLES)]
        assert [(view.state, view.failures) for view in views] == [("scored", [])] * BATTLES
        assert Counter(endpoint.answered.values()) == {1: CALLS * BATTLES}
        spent = await DatabaseSpendStore(running.database).total()
        assert spent.calls == CALLS * BATTLES
