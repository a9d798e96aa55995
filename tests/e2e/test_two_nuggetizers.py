"""Two nuggetizers in processes of their own: both list nuggets for every battle, told apart on boards."""

import asyncio
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import Lens
from services.store.battles import Battles
from services.store.database import Database
from services.store.outcome import Outcome
from services.store.outcomes import Outcomes
from tests.e2e.battles import battle
from tests.e2e.processes import separate_processes
from tests.e2e.test_separate_processes import until_all_ended

BATTLES = 9
SECOND = {"nuggetizer": "short", "nugget_limit": "2", "nugget_sources": "answers"}


@pytest.mark.timeout(300)
async def test_two_nuggetizers_both_list_nuggets_for_every_battle_also_while_one_is_killed(
    tmp_path: Path,
) -> None:
    async with (
        separate_processes(tmp_path, second={"nuggetizer": SECOND}, nuggetizers="first,short") as platform,
        AsyncClient(platform.url, patience=60) as client,
    ):
        database = Database(platform.database_url)
        battles, outcomes = Battles(database), Outcomes(database)
        for number in range(BATTLES):
            await client.submit(battle(number))
            if number == BATTLES // 2:
                await platform.processes["nuggetizer-2"].kill()
        await platform.processes["nuggetizer-2"].start()
        await until_all_ended(battles)
        async with asyncio.timeout(60):
            while (await outcomes.counts("test"))[Lens.OTHER_NUGGET] < BATTLES:
                await asyncio.sleep(0.1)

        rows = await battles.latest(BATTLES + 1)
        assert Counter(row.state.value for row in rows) == {"scored": BATTLES}
        said = await outcomes.of_battles([row.id for row in rows])
        sources = Counter(outcome.source for of_one in said.values() for outcome in of_one)
        assert sources["nugget"] == sources["other_nugget:short"] == BATTLES
        for row in rows:
            view = await client.battle(row.id)
            (other,) = view.other_lists
            assert (view.nuggetizer, other.nuggetizer) == ("first", "short")
            assert 0 < len(other.nuggets) <= 2 < len(view.nuggets)  # each with settings of its own
            assert other.verdict is not None
            winners = {each.source: each.winner for each in said[row.id]}
            assert view.nugget_verdict is not None
            assert winners["nugget"] == view.nugget_verdict.preference
            assert winners["other_nugget:short"] == other.verdict.preference

        (first,) = await client.leaderboard("test", lens="nugget")
        (second,) = await client.leaderboard("test", lens="other_nugget", evaluator="short")
        assert (first.scored, first.outcomes) == (second.scored, second.outcomes) == (BATTLES, BATTLES)
        assert second.evaluators == ["short"]
        wins = [{s.system: (s.wins, s.ties) for s in board.standings} for board in (first, second)]
        assert wins[0] != wins[1]
        (compared,) = (await client.agreement("test")).pairs[3:]
        assert (compared.first, compared.first_evaluator) == (Lens.NUGGET, None)
        assert (compared.second, compared.second_evaluator) == (Lens.OTHER_NUGGET, "short")
        assert compared.battles == BATTLES
        same = sum(_same(by_one) for by_one in said.values())
        assert compared.agreed == same < BATTLES
        assert compared.kappa is not None

        metrics = await asyncio.to_thread(_metrics, platform.processes["recorder"].metrics_port)
        assert 'nuggetstream_consumer_lag{stage="nuggetizer-short"}' in metrics
        await database.close()
    assert set(platform.exit_codes.values()) == {0}, platform.exit_codes


def _same(of_one: Sequence[Outcome]) -> bool:
    winners = {each.source: each.winner.value.replace("both_bad", "tie") for each in of_one}
    return winners["nugget"] == winners["other_nugget:short"]


def _metrics(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return reply.read().decode()
