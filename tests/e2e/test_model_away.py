"""The whole platform while the model is away: no battle fails, and nothing is paid for twice."""

import asyncio
from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from services.runtime.llm import circuit
from services.runtime.runner import outage
from tests.circuits import open_circuits
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.with_model import ended, platform, until

DELIVERIES = 5
CALLS = {"nuggetizer": 1, "judge": 2}  # of the stages that wait at the same time


def circuits(cause: str) -> float:
    return open_circuits("m", cause)


@pytest.mark.timeout(180)
async def test_a_battle_outlives_a_model_that_is_away_and_is_scored_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit, "_LONGEST_PAUSE_S", 0.05)
    monkeypatch.setattr(outage, "LONGEST_PAUSE", 0.05)
    (port,) = free_ports(1)
    endpoint = ModelEndpoint(status=503)
    async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
        receipt = await client.submit(battle(1))
        await until(lambda: circuits("unreachable") == 2)  # of nuggetizer and judge
        async with endpoint.listening(port):
            # More calls than all deliveries together may make.
            await until(lambda: endpoint.rejected[503] > 2 * DELIVERIES * sum(CALLS.values()))
            endpoint.status = 401
            await until(lambda: circuits("key") == 2)
            assert (await client.battle(receipt.battle_id)).state == "running"
            async with asyncio.timeout(60):
                while {w.cause for w in (await client.battle(receipt.battle_id)).waiting} != {"key"}:
                    await asyncio.sleep(0.05)
            notes = (await client.ready()).notes
            assert any(
                "judge waits for the model: its endpoint rejects the API key" in note for note in notes
            )
            endpoint.status = 200
            seen = await ended(client, receipt.battle_id)
            assert (seen.state, seen.failures) == ("scored", [])
            assert circuits("key") + circuits("overloaded") + circuits("unreachable") == 0
    assert set(endpoint.answered.values()) == {1}
    assert len(endpoint.answered) == 5  # nuggets, two assignments, two orders of the judge


@pytest.mark.timeout(180)
async def test_a_battle_fails_by_name_when_the_patience_with_the_model_is_over(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    endpoint = ModelEndpoint(status=401)
    async with (
        endpoint.listening(port),
        platform(tmp_path, port, stages={"*": {"patience_s": 0.5}}) as running,
        AsyncClient(running.url) as client,
    ):
        receipt = await client.submit(battle(1))
        seen = await ended(client, receipt.battle_id)
        assert seen.state == "failed"
        assert {failure.reason for failure in seen.failures} == {"llm_unavailable"}
        for failure in seen.failures:
            assert "the API key is rejected" in failure.detail
            assert failure.detail.endswith("given up after waiting for 0.5 s")
            assert failure.attempts == 1
