"""A battle with several judges or nuggetizers, on both databases: it has ended once each has reported."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleFailed
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.domain.progress import BattleState, Branch
from services.store.battles import BattleRow, Battles, NewEvent
from services.store.database import Database
from services.store.failed import FailedBattles, FailureFilter
from services.store.nugget_edits import EditResult, NewEdit, NuggetEdits
from services.store.reruns import restart_failed
from tests import samples
from tests.samples import NOON

JUDGES = ("alpha", "beta")
NUGGETIZERS = ("first", "second")
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
    restarts = await restart_failed(database, "b1", NOON)
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
    await restart_failed(database, "b1", NOON)
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


@pytest.fixture
async def listing(database: Database) -> Battles:
    battles = Battles(database, nuggetizers=NUGGETIZERS)
    await battles.accept(samples.battle(), b"body", NOON)
    return battles


def labelled(name: str | None, key: str = "", edit: int = 0) -> BattleAssigned:
    event = samples.assigned(1, 1, of=1, key=f"labelled {name} {key}")
    listed = replace(event.nugget_list, nuggetizer=name, additional=name == "second", edit=edit)
    return replace(event, nugget_list=listed)


def gave_up_list(name: str | None, stage: Stage = Stage.NUGGETIZER) -> BattleFailed:
    failure = StageFailure(stage, Reason.LLM_REFUSED, "declined", 1, evaluator=name)
    return BattleFailed(f"{stage} of {name}", "b1", "default", failure)


async def test_a_battle_waits_for_the_labels_of_every_nuggetizer(listing: Battles) -> None:
    row = await happens(listing, samples.judged(), labelled("first"))
    assert (row.nugget_state, row.state) == (Branch.PENDING, BattleState.RUNNING)
    row = await happens(listing, labelled("second"), minutes=2)
    assert (row.state, row.ended_at) == (BattleState.SCORED, NOON + 2 * MINUTE)


@pytest.mark.parametrize("stage", [Stage.NUGGETIZER, Stage.ASSIGNER])
async def test_a_nuggetizer_or_the_labels_of_its_list_that_fail_make_the_battle_partly_scored(
    listing: Battles, stage: Stage
) -> None:
    row = await happens(listing, samples.judged(), labelled("first"), gave_up_list("second", stage))
    assert (row.nugget_state, row.state) == (Branch.PARTIAL, BattleState.PARTIAL)
    assert (await happens(listing, labelled("second"), minutes=1)).state is BattleState.SCORED


async def test_a_list_that_was_made_before_others_were_declared_is_that_of_the_first(
    listing: Battles,
) -> None:
    row = await happens(listing, samples.judged(), labelled(None), labelled("second"))
    assert row.state is BattleState.SCORED


async def test_a_list_of_another_nuggetizer_ends_no_branch_of_an_installation_with_one(
    database: Database,
) -> None:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    assert (await happens(battles, samples.judged(), labelled("second"))).nugget_state is Branch.PENDING
    assert (await happens(battles, labelled(None))).state is BattleState.SCORED


async def test_nuggetizers_that_failed_run_again_from_the_evidence_and_from_their_lists(
    listing: Battles, database: Database
) -> None:
    await happens(listing, samples.judged(), gave_up_list("first"))
    await happens(listing, gave_up_list("second", Stage.ASSIGNER), minutes=1)
    restarts = await restart_failed(database, "b1", NOON)
    assert [restart.stage for restart in restarts] == [Stage.NUGGETIZER, Stage.ASSIGNER]
    assert {restart.failures for restart in restarts} == {("assigner of second",)}
    assert restarts == await restart_failed(database, "b1", NOON)
    row = await happens(listing, labelled("first"), labelled("second"), minutes=2)
    assert row.state is BattleState.SCORED


@pytest.mark.parametrize(("declared", "settled"), [(("first",), True), (NUGGETIZERS, False)])
async def test_a_nuggetizer_that_is_no_longer_declared_is_not_waited_for(
    listing: Battles, database: Database, declared: tuple[str, ...], settled: bool
) -> None:
    await happens(listing, samples.judged(), labelled("first"))
    later = NOON + 9 * MINUTE
    assert await Battles(database, nuggetizers=declared).settle("b1", later) is settled


async def test_an_edited_list_without_labels_is_not_settled(listing: Battles, database: Database) -> None:
    await happens(listing, samples.judged(), labelled("first"), labelled("second"))
    listed = replace(labelled("first").nugget_list, edit=1)
    event = replace(samples.nuggetized(1), nugget_list=listed)
    change = RecordedEdit(
        version=2, based_on=1, author="Ada", reason="r", changes=(), edited_at=NOON, left=None
    )
    new = NewEvent("edited", "nuggetized", event, "arena.v1.BattleNuggetized", b"body")
    assert await NuggetEdits(database).add(NewEdit("b1", "k", change, new)) is EditResult.ADDED
    assert not await listing.settle("b1", NOON + MINUTE)
    row = await happens(listing, labelled("first", "again", edit=1), minutes=2)
    assert row.state is BattleState.SCORED
