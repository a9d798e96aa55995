"""A second judge and evaluators, beside the judge that battles wait for, in a process that is killed."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import Lens
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes
from tests.e2e.battles import battle
from tests.e2e.processes import separate_processes
from tests.e2e.test_separate_processes import until_all_ended
from tests.stored import latest

BATTLES = 10
GRADERS = ("answer_quality", "query_profile")
SECOND = "utility"


@pytest.mark.timeout(300)
async def test_two_judges_both_judge_every_battle_also_when_their_process_is_killed(tmp_path: Path) -> None:
    async with (
        separate_processes(tmp_path, evaluators=",".join((*GRADERS, SECOND))) as platform,
        AsyncClient(platform.url, patience=60) as client,
    ):
        database = Database(platform.database_url)
        battles, outcomes = Battles(database), Outcomes(database)
        for number in range(BATTLES):
            await client.submit(battle(number))
            if number == BATTLES // 2:
                await platform.processes["judge"].kill()
        await platform.processes["judge"].start()
        await until_all_ended(battles)
        async with asyncio.timeout(60):
            while (await outcomes.counts("test"))[Lens.JUDGE] < 2 * BATTLES:
                await asyncio.sleep(0.1)

        rows = await latest(battles, BATTLES + 1)
        assert Counter(row.state.value for row in rows) == {"scored": BATTLES}
        said = await outcomes.of_battles([row.id for row in rows])
        sources = Counter(outcome.source for of_one in said.values() for outcome in of_one)
        assert sources["judge:pairwise"] == sources[f"judge:{SECOND}"] == BATTLES
        view = await client.battle(rows[0].id)
        assert {judgment.evaluator for judgment in view.judgments} == {"pairwise", SECOND}
        for row in rows:  # grades may be recorded after the end of the battle
            async with asyncio.timeout(60):
                while len(graded := (await client.battle(row.id)).gradings) < len(GRADERS):
                    await asyncio.sleep(0.1)
            assert tuple(each.evaluator for each in graded) == GRADERS
            assert all(each.grades for each in graded)
        for name in ("pairwise", SECOND):
            (board,) = await client.leaderboard("test", lens="judge", evaluator=name)
            assert (board.scored, board.outcomes) == (BATTLES, BATTLES)
            assert (board.method.slice.evaluator, board.evaluators) == (name, ["pairwise", SECOND])
            assert sum(standing.battles for standing in board.standings) == 2 * BATTLES
        (together,) = await client.leaderboard("test", lens="judge")
        assert (together.scored, together.outcomes) == (BATTLES, BATTLES)  # each battle once
        compared = (await client.agreement("test")).pairs[3:]
        assert [(pair.first_evaluator, pair.second_evaluator) for pair in compared] == [("pairwise", SECOND)]
        assert compared[0].battles == BATTLES
        await database.close()
    assert set(platform.exit_codes.values()) == {0}, platform.exit_codes
