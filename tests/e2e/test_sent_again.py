"""A battle that failed and is sent again runs again, on the whole platform."""

from collections import Counter
from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import INDEPENDENT, Lens
from services.store.battles.battles import Battles
from services.store.outcomes.outcomes import Outcomes
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.with_model import ended, platform


@pytest.mark.timeout(180)
async def test_a_failed_battle_that_is_sent_again_runs_again_and_pays_only_for_what_is_missing(
    tmp_path: Path,
) -> None:
    (port,) = free_ports(1)
    endpoint = ModelEndpoint(filtered={"assignment"})
    async with (
        endpoint.listening(port),
        platform(tmp_path, port) as running,
        AsyncClient(running.url) as client,
    ):
        first = await client.submit(battle(1))
        assert (first.created, first.rerun) == (True, False)
        seen = await ended(client, first.battle_id)
        assert (seen.state, [f.stage for f in seen.failures]) == ("partial", ["assigner"])
        assert len(endpoint.answered) == 3  # nuggets and two orders of the judge

        again = await client.submit(battle(1))  # nothing has changed at the model
        assert (again.created, again.rerun) == (False, True)
        seen = await ended(client, first.battle_id)
        assert (seen.state, [f.reason for f in seen.failures]) == ("partial", ["content_filtered"])
        recorded = await Battles(running.database).events_of(first.battle_id)
        assert [event.name for event in recorded].count("failed") == 2

        endpoint.filtered.clear()
        assert (await client.submit(battle(1))).rerun
        seen = await ended(client, first.battle_id)
        assert (seen.state, seen.failures) == ("scored", [])
        assert (await client.submit(battle(1))).rerun is False  # it is scored, and stays so
        assert (await client.battle(first.battle_id)).state == "scored"

        assert Counter(endpoint.answered.values()) == {1: 5}
        counts = await Outcomes(running.database).counts("test")
        assert counts == dict.fromkeys(Lens, 0) | dict.fromkeys((*INDEPENDENT, Lens.GROUNDED), 1)


@pytest.mark.timeout(180)
async def test_both_branches_run_again_from_one_input_and_a_client_may_wait_for_them(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    endpoint = ModelEndpoint(filtered={"nuggets", "verdict"})
    async with (
        endpoint.listening(port),
        platform(tmp_path, port) as running,
        AsyncClient(running.url) as client,
    ):
        assert (await client.submit_and_wait(battle(2))).state == "failed"
        endpoint.filtered.clear()
        seen = await client.submit_and_wait(battle(2))
        assert (seen.state, seen.failures) == ("scored", [])
        assert Counter(endpoint.answered.values()) == {1: 5}
        events = await Battles(running.database).events_of("battle-002")
        names = Counter(event.name for event in events)
        assert (names["scraped"], names["retrieved"], names["nuggetized"], names["judged"]) == (1, 2, 1, 1)
