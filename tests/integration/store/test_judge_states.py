"""A battle with several judges, on both databases: it has ended once every declared judge has reported."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.event import BattleEvent, BattleFailed
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from nuggetstream.domain.progress import BattleState, Branch
from services.store.battles import BattleRow, Battles, NewEvent
from services.store.database import Database
from services.store.failed import FailedBattles, FailureFilter
from services.store.reruns import restart_failed
from tests import samples
from tests.samples import NOON

JUDGES = ("alpha", "beta")
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def battles(database: Database) -> Battles:
    battles = Battles(database, JUDGES)
    await battles.accept(samples.battle(), b"body", NOON)
    return battles


async def happens(battles: Battles, *events: BattleEvent, minutes: int = 0) -> BattleRow:
    for event in events:
        name = type(event).__name__
        new = NewEvent(f"{name}:{event.key}:{minutes}", name, event, f"arena.v1.{name}", b"body")
        await battles.record(new, NOON + minutes * MINUTE)
    row = await battles.get("b1")
    assert row is not None
    return row


def gave_up(evaluator: str | None) -> BattleFailed:
    failure = StageFailure(Stage.JUDGE, Reason.LLM_REFUSED, "declined", 1, evaluator=evaluator)
    return BattleFailed(f"failed {evaluator}", "b1", "default", failure)


ASSIGNED = samples.assigned(1, 1, of=1)
ALPHA, BETA = (samples.judged(evaluator=name) for name in JUDGES)


async def test_a_battle_is_scored_when_every_judge_has_given_a_verdict(battles: Battles) -> None:
    row = await happens(battles, ASSIGNED, ALPHA)
    assert (row.judge_state, row.state, row.ended_at) == (Branch.PENDING, BattleState.RUNNING, None)
    row = await happens(battles, BETA, minutes=3)
    assert (row.judge_state, row.state) == (Branch.DONE, BattleState.SCORED)
    assert row.ended_at == NOON + 3 * MINUTE


async def test_a_verdict_of_a_judge_that_is_not_declared_ends_nothing(battles: Battles) -> None:
    row = await happens(battles, ASSIGNED, samples.judged(evaluator="gamma"), gave_up(None), ALPHA)
    assert row.judge_state is Branch.PENDING


async def test_one_judge_that_fails_makes_the_battle_partly_scored(battles: Battles) -> None:
    row = await happens(battles, ASSIGNED, ALPHA, gave_up("beta"))
    assert (row.judge_state, row.state) == (Branch.PARTIAL, BattleState.PARTIAL)
    assert (await happens(battles, gave_up("alpha"), minutes=1)).judge_state is Branch.PARTIAL
    assert (await happens(battles, BETA, minutes=2)).state is BattleState.SCORED


async def test_the_branch_fails_when_all_judges_fail(battles: Battles) -> None:
    row = await happens(battles, samples.failed(Stage.NUGGETIZER), gave_up("alpha"))
    assert row.state is BattleState.RUNNING
    assert (await happens(battles, gave_up("beta"))).state is BattleState.FAILED


async def test_a_stage_before_the_judges_ends_the_branch_and_keeps_a_verdict(battles: Battles) -> None:
    assert (await happens(battles, samples.failed(Stage.SCRAPER))).state is BattleState.FAILED
    assert (await happens(battles, ALPHA)).judge_state is Branch.PARTIAL
    assert (await happens(battles, ASSIGNED, BETA)).state is BattleState.SCORED


async def test_only_judges_that_failed_are_waited_for_in_the_next_run(
    battles: Battles, database: Database
) -> None:
    await happens(battles, ASSIGNED, ALPHA, gave_up("beta"))
    restarts = await restart_failed(database, "b1")
    assert [(restart.stage, restart.failures) for restart in restarts] == [(Stage.JUDGE, ("failed beta",))]
    again = replace(ALPHA, key="judged alpha, second run")
    assert (await happens(battles, again, minutes=1)).judge_state is Branch.PENDING
    assert (await happens(battles, BETA, minutes=1)).state is BattleState.SCORED


async def test_failures_of_two_judges_are_two_and_a_verdict_closes_only_its_own(
    battles: Battles, database: Database
) -> None:
    failed = FailedBattles(database)
    await happens(battles, ASSIGNED, gave_up("alpha"))
    await happens(battles, gave_up("beta"), minutes=1)
    both = await failed.select(FailureFilter(), 10)
    assert [found.recorded.failure.evaluator for found in both] == ["beta", "alpha"]
    await restart_failed(database, "b1")
    await happens(battles, ALPHA, minutes=2)
    await happens(battles, replace(gave_up("beta"), key="again"), minutes=3)
    assert [found.key for found in await failed.select(FailureFilter(), 10)] == ["again"]


@pytest.mark.parametrize(("declared", "settled"), [(("alpha",), True), ((), True), (("beta",), False)])
async def test_a_judge_that_is_no_longer_declared_is_not_waited_for(
    battles: Battles, database: Database, declared: tuple[str, ...], settled: bool
) -> None:
    await happens(battles, ASSIGNED, ALPHA)
    later = NOON + 9 * MINUTE
    assert not await battles.settle("b1", later)  # it waits for beta
    assert await Battles(database, declared).settle("b1", later) is settled
    row = await battles.get("b1")
    assert row is not None
    assert (row.state is BattleState.SCORED, row.ended_at == later) == (settled, settled)


async def test_a_single_judge_of_any_name_needs_no_rows(database: Database) -> None:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    assert (await happens(battles, ASSIGNED, BETA)).state is BattleState.SCORED
    assert not await battles.settle("b1", NOON)
