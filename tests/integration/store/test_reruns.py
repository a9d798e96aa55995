"""Setting failed battles back to running, on both databases."""

import asyncio
from datetime import timedelta

import pytest

from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState, Branch
from services.store.battles.battles import Battles
from services.store.battles.recording import NewEvent
from services.store.database import Database
from tests import samples
from tests.samples import NOON
from tests.stored import record_new, restarted


@pytest.fixture
async def battles(database: Database) -> Battles:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    return battles


async def happens(battles: Battles, event: BattleEvent, minutes: int = 0) -> None:
    name = type(event).__name__
    new = NewEvent(f"{name}:{event.key}", name, event, f"arena.v1.{name}", event.key.encode())
    await record_new(battles, new, NOON + timedelta(minutes=minutes))


async def test_a_battle_that_runs_or_is_scored_or_unknown_is_left_alone(
    battles: Battles, database: Database
) -> None:
    assert await restarted(database, "b1") == {}
    await happens(battles, samples.failed(Stage.NUGGETIZER))
    row = await battles.get("b1")  # the judge has not finished
    assert row is not None
    assert (await restarted(database, "b1"), row.nugget_state) == ({}, Branch.FAILED)
    await happens(battles, samples.assigned(1, 1, of=1))
    await happens(battles, samples.judged())
    assert await restarted(database, "b1") == {}
    assert await restarted(database, "nobody") == {}


async def test_only_the_failed_branch_runs_again_and_asking_twice_is_one_run(
    battles: Battles, database: Database
) -> None:
    failed = samples.failed(Stage.ASSIGNER)
    await happens(battles, failed)
    await happens(battles, samples.judged())
    restarts = await asyncio.gather(*(restarted(database, "b1") for _ in range(5)))
    assert sorted(restarts, key=len) == [{}] * 4 + [{Stage.ASSIGNER: {failed.key}}]
    row = await battles.get("b1")
    assert row is not None
    assert (row.nugget_state, row.judge_state) == (Branch.PENDING, Branch.DONE)
    assert (row.state, row.ended_at) == (BattleState.RUNNING, None)
    await happens(battles, failed)  # delivered once more: it belongs to the run before
    row = await battles.get("b1")
    assert row is not None
    assert row.state is BattleState.RUNNING


async def test_the_stage_that_failed_last_runs_again(battles: Battles, database: Database) -> None:
    await happens(battles, samples.failed(Stage.SCRAPER))
    assert list(await restarted(database, "b1")) == [Stage.SCRAPER]
    await happens(battles, samples.failed(Stage.NUGGETIZER), 1)
    await happens(battles, samples.failed(Stage.JUDGE), 2)
    assert set(await restarted(database, "b1")) == {Stage.NUGGETIZER, Stage.JUDGE}
