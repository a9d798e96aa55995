"""Nine processes, any of which may die at any time: nothing is lost and nothing counts twice."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.domain.progress import BattleState
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes
from tests.e2e.battles import battle
from tests.e2e.processes import Platform, separate_processes
from tests.stored import latest

BATTLES = 50
_LENSES = (*INDEPENDENT, Lens.GROUNDED)
COUNTED = dict.fromkeys(Lens, 0) | dict.fromkeys(_LENSES, BATTLES)  # outcomes by lens


async def until_all_ended(battles: Battles) -> None:
    async with asyncio.timeout(120):
        while not all(row.ended_at for row in await latest(battles, BATTLES + 1)):
            await asyncio.sleep(0.2)


async def until_all_counted(outcomes: Outcomes) -> None:
    async with asyncio.timeout(60):
        while await outcomes.counts("test") != COUNTED:
            await asyncio.sleep(0.2)


async def submit_and_kill(platform: Platform, client: AsyncClient) -> None:
    """A tenth of the battles, then a kill while they are on their way; service after service."""
    share = BATTLES // (len(platform.processes) + 1)
    for turn, process in enumerate(platform.processes.values()):
        await submit(client, range(turn * share, (turn + 1) * share))
        await process.kill()
        await process.start()
    await submit(client, range(len(platform.processes) * share, BATTLES))


async def submit(client: AsyncClient, numbers: range) -> None:
    for number in numbers:
        await client.submit(battle(number))


@pytest.mark.full  # the strikes of tests/chaos kill the same services
@pytest.mark.timeout(300)
async def test_killing_every_service_in_turn_loses_no_battle_and_counts_none_twice(tmp_path: Path) -> None:
    async with separate_processes(tmp_path) as platform, AsyncClient(platform.url, patience=60) as client:
        database = Database(platform.database_url)
        battles, outcomes = Battles(database), Outcomes(database)
        await submit_and_kill(platform, client)
        assert any(row.ended_at is None for row in await latest(battles, BATTLES)), "all ended too early"
        await until_all_ended(battles)
        await until_all_counted(outcomes)

        rows = await latest(battles, BATTLES + 1)
        assert Counter(row.state for row in rows) == {BattleState.SCORED: BATTLES}
        said = await outcomes.of_battles([row.id for row in rows])
        counted = Counter((outcome.lens, name) for name, of_one in said.items() for outcome in of_one)
        assert len(counted) == len(_LENSES) * BATTLES
        assert set(counted.values()) == {1}
        assert await outcomes.counts("test") == COUNTED

        boards = await client.leaderboard("test")
        assert [board.scored for board in boards] == [BATTLES] * 3
        assert sum(standing.battles for standing in boards[0].standings) == 2 * BATTLES
        await database.close()
    assert set(platform.exit_codes.values()) == {0}, platform.exit_codes
