"""Battles that arrive together are worked on together."""

from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.with_model import ended, platform, until

BATTLES = 32


@pytest.mark.timeout(180)
async def test_the_model_is_asked_about_all_of_32_battles_before_it_answers_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.llm.limiter._FIRST", 2 * BATTLES)  # as if it had been learnt
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    endpoint.answering.clear()
    async with (
        endpoint.listening(port),
        platform(tmp_path, port) as running,
        AsyncClient(running.url) as client,
    ):
        receipts = [await client.submit(battle(number)) for number in range(BATTLES)]
        # Nuggets and the first order of the judge.
        await until(lambda: len(endpoint.answered) == 2 * BATTLES)
        endpoint.answering.set()
        assert (await ended(client, receipts[-1].battle_id)).state == "scored"
