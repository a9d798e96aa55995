"""Which work is pending follows from what is recorded, in whatever order, and an index finds what waits."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import Select

from nuggetstream.domain import event as events
from nuggetstream.domain.pipeline import PIPELINE, Stage
from services.store.battles.battles import Battles
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.store.work.pending import Pending, PendingWork, work
from services.wire.evaluators import EVALUATORS
from tests import samples
from tests.integration.gateway.world import Story, battle
from tests.samples import NOON

LONG_AGO, FAR = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
LATER = NOON.replace(hour=NOON.hour + 1)


async def waiting(database: Database) -> dict[tuple[str, str], str]:
    """The input of each stage or evaluator that has work, by both names."""
    store = PendingWork(database)
    found = await store.waiting(FAR, 100) + await store.ungraded(EVALUATORS, LONG_AGO, FAR, 100)
    return {(each.worker.stage.value, each.worker.evaluator): each.input for each in found}


async def happens(database: Database, *happened: events.BattleEvent, evaluators: Sequence[str] = ()) -> None:
    await Battles(database).record_all(
        [NewEvent.of(event, evaluators=evaluators) for event in happened], NOON
    )


@pytest.fixture
async def story(database: Database) -> Story:
    """A battle that was accepted."""
    await Battles(database).accept(battle(), b"body", NOON)
    return Story(battle())


async def test_each_stage_has_work_from_its_input_to_its_result(database: Database, story: Story) -> None:
    [(worker, key)] = (await waiting(database)).items()
    assert worker == ("scraper", "")
    assert key == events.submission_key("tides", battle().content_hash())
    path: list[set[str]] = []
    for event in story.told()[1:]:  # after the submission
        await happens(database, event)
        path.append({stage for stage, _ in await waiting(database)})
    assert path == [
        {"indexer"}, {"retriever"}, {"nuggetizer", "judge"}, {"assigner", "judge"}, {"judge"}, set(),
    ]  # fmt: skip


@pytest.mark.parametrize("together", [True, False], ids=["one transaction", "many"])
@pytest.mark.parametrize("failing", [None, Stage.NUGGETIZER], ids=["scored", "partial"])
async def test_in_whatever_order_events_are_recorded_nothing_is_left_in_the_end(
    database: Database, together: bool, failing: Stage | None
) -> None:
    told = Story(battle()).told()[1:]
    if failing is not None:
        told = [event for event in told if not isinstance(event, events.BattleAssigned)]
        told.append(Story(battle()).failed(failing))
    for number, order in enumerate(list(permutations(range(len(told))))[::47]):
        fought = battle(id=f"b{number}")
        await Battles(database).accept(fought, b"body", NOON)
        happened = [_of(told[place], fought) for place in order]
        for group in [happened] if together else [[event] for event in happened]:
            await happens(database, *group)
        assert await waiting(database) == {}, [type(event).__name__ for event in happened]


def _of(event: events.BattleEvent, fought: Any) -> events.BattleEvent:
    """The same event of another battle."""
    named = {"battle_id": fought.id} if isinstance(event, events.BattleFailed) else {"battle": fought}
    return replace(event, key=f"{event.key} {fought.id}", **named)  # type: ignore[arg-type]


async def test_of_a_restored_battle_the_branches_that_are_behind_have_work(
    database: Database, story: Story
) -> None:
    await happens(database, story.judged())
    assert await waiting(database) == {
        ("scraper", ""): events.submission_key("tides", battle().content_hash())
    }
    await happens(database, story.indexed())
    assert await waiting(database) == {("retriever", ""): story.indexed().key}


async def test_a_stage_that_gives_up_ends_the_work_of_its_branches(database: Database, story: Story) -> None:
    await happens(database, story.scraped(), story.indexed(), story.retrieved())
    await happens(database, story.failed(Stage.NUGGETIZER))
    assert {stage for stage, _ in await waiting(database)} == {"judge"}


async def test_a_vote_is_no_activity_of_a_stage(database: Database, story: Story) -> None:
    before = await PendingWork(database).waiting(FAR, 10)
    await Battles(database).record_all([NewEvent.of(story.voted())], LATER)
    assert await PendingWork(database).waiting(FAR, 10) == before


async def test_evaluators_have_work_once_their_input_is_recorded(database: Database, story: Story) -> None:
    await happens(database, story.scraped(), story.indexed())
    await happens(database, story.retrieved(), evaluators=["answer_quality", "aspects"])
    names = {evaluator for _, evaluator in await waiting(database)} - {""}
    assert names == {"answer_quality", "aspects"}
    graded = replace(samples.graded("aspects"), battle_id="tides", arena=story.battle.arena)
    await happens(database, graded)
    await happens(database, story.retrieved(), evaluators=["answer_quality", "aspects"])  # delivered again
    assert {evaluator for _, evaluator in await waiting(database)} - {""} == {"answer_quality"}


async def test_an_attempt_is_counted_once_and_only_while_the_work_is_pending(
    database: Database, story: Story
) -> None:
    store = PendingWork(database)
    [pending] = await store.waiting(FAR, 10)
    assert await store.count_attempt(pending, LATER)
    assert not await store.count_attempt(pending, LATER)
    [again] = await store.waiting(FAR, 10)
    assert (again.attempts, again.waits_since) == (1, LATER)
    await happens(database, story.scraped())
    assert not await store.count_attempt(again, LATER)


def test_every_stage_but_the_last_of_a_branch_hands_its_work_on() -> None:
    read = {step.reads for step in PIPELINE.values()}
    last = {stage for stage, step in PIPELINE.items() if step.publishes not in read}
    assert last == {Stage.ASSIGNER, Stage.JUDGE}


@pytest.mark.parametrize("readers", ["stages", "evaluators"])
async def test_an_index_finds_what_waits_in_order(database: Database, readers: str) -> None:
    queries: list[Select[Any]] = []

    class Asked(PendingWork):
        async def _read(self, query: Select[Any]) -> list[Pending]:
            queries.append(query.order_by(work.c.waits_since))
            return []

    if readers == "stages":
        await Asked(database).waiting(FAR, 5)
    else:
        await Asked(database).ungraded(["aspects"], LONG_AGO, FAR, 5)
    literal = queries[0].compile(database.engine.sync_engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    async with database.transaction() as tx:
        if not database.is_sqlite:
            await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")  # the table is empty
        plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + str(literal)))
    assert f"ix_work_of_{readers}" in plan
    assert "TEMP B-TREE" not in plan
