"""Studies that ask people, in the database: who is given what, once, in time, and what a deletion leaves."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import func, select

from nuggetstream.crowd.assignment import ItemKind, OpenItem, Session, is_reversed, next_item
from nuggetstream.files.crowd_study import CrowdStudySubmission
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.database import Database
from services.store.studies.studies import Studies
from services.store.studies.study_rows import StoredStudy, StoredWorker
from services.store.studies.study_tables import studies, study_items, study_tasks, study_workers
from services.store.studies.study_tasks import Answer, Answered, Begun, StudyTasks, Task
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.stored import evaluate

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=11)
STUDY = "st_" + "0" * 32
BETTER_A = Answer({"quality_overall": "a"}, "a")


def item(number: int, kind: ItemKind = ItemKind.PAIR, a: str = "x", b: str = "y") -> tuple[str, OpenItem]:
    return f"battle{number}", OpenItem(number, kind, a, b, number % 3)


async def added(database: Database, items: Sequence[tuple[str, OpenItem]], study: str = STUDY) -> Studies:
    store = Studies(database)
    submission = CrowdStudySubmission(name="Tides", arena="demo", battles=["never stored"])
    await store.add(StoredStudy(study, "demo", submission, NOW), items)
    return store


def worker(name: str, study: str = STUDY, participant: str | None = None) -> StoredWorker:
    return StoredWorker(
        id=name,
        study_id=study,
        participant=participant,
        cookie=f"hash of {name}",
        language="en",
        code=f"code {name}",
        begun_at=NOW,
    )


async def given(
    database: Database, who: StoredWorker, now: datetime = NOW, workers: int = 5, pairs: int = 15
) -> Task | None:
    def choose(answered: list[OpenItem], candidates: list[OpenItem]) -> OpenItem | None:
        return next_item(Session(answered, training=0, gold=0, pairs=pairs), candidates, {}, workers)

    order = partial(is_reversed, share=1 / 3)
    return await StudyTasks(database).give(who, choose, now, now + timedelta(minutes=10), order)


async def test_a_worker_is_given_items_until_none_is_left(database: Database) -> None:
    store, tasks, ann = await added(database, [item(0), item(1)]), StudyTasks(database), worker("ann")
    assert await tasks.begin(ann, 5) is Begun.BEGUN
    first = await given(database, ann)
    assert first is not None
    assert await given(database, ann) == first  # the page loaded again
    assert await tasks.current("ann", NOW) == first
    assert await tasks.answer("ann", first.item, BETTER_A, NOW) is Answered.STORED
    latest = await tasks.latest("ann")
    assert latest == (first, {"quality_overall": "a"})
    second = await given(database, ann)
    assert second is not None
    assert {first.item, second.item} == {0, 1}
    assert (first.position, second.position) == (1, 2)
    await tasks.answer("ann", second.item, BETTER_A, NOW)
    assert await given(database, ann) is None
    progress = await store.progress(STUDY, NOW)
    assert (progress["pairs"], progress["answered"], progress["open"]) == (2, 2, 0)
    assert (progress["workers"], progress["finished"]) == (1, 1)
    assert await store.outcomes(STUDY) == [("x", "y", "a", 2)]


async def test_no_pair_gets_more_workers_than_it_needs_however_many_ask_at_once(database: Database) -> None:
    await added(database, [item(0), item(1)])
    crowd = [worker(f"w{number}") for number in range(8)]
    tasks = StudyTasks(database)
    await asyncio.gather(*(tasks.begin(each, 8) for each in crowd))
    found = await asyncio.gather(*(given(database, each, workers=3) for each in crowd))
    items = [task.item for task in found if task is not None]
    assert sorted(items) == [0, 0, 0, 1, 1, 1]


async def test_an_item_whose_time_is_over_is_given_to_somebody_else(database: Database) -> None:
    store, tasks = await added(database, [item(0)]), StudyTasks(database)
    for name in ("ann", "ben"):
        await tasks.begin(worker(name), 5)
    assert await given(database, worker("ann"), workers=1) is not None
    assert await given(database, worker("ben"), workers=1) is None
    replaced = await given(database, worker("ben"), LATER, workers=1)
    assert replaced is not None
    assert replaced.item == 0
    assert await tasks.answer("ann", 0, BETTER_A, LATER) is Answered.LATE
    assert await tasks.answer("ben", 0, BETTER_A, LATER) is Answered.STORED
    assert [answer.worker for answer in await store.answers(STUDY, None, 10)] == ["ben"]
    assert await given(database, worker("ann"), LATER, workers=1) is None  # it met the item before


async def test_an_answer_is_stored_once(database: Database) -> None:
    store, tasks = await added(database, [item(0)]), StudyTasks(database)
    await tasks.begin(worker("ann"), 5)
    await given(database, worker("ann"))
    assert await tasks.answer("ann", 1, BETTER_A, NOW) is Answered.UNKNOWN
    assert await tasks.answer("ben", 0, BETTER_A, NOW) is Answered.UNKNOWN
    assert await tasks.answer("ann", 0, BETTER_A, NOW) is Answered.STORED
    assert await tasks.answer("ann", 0, BETTER_A, LATER) is Answered.STORED  # the same, sent again
    assert await tasks.answer("ann", 0, Answer({"quality_overall": "b"}, "b"), NOW) is Answered.TWICE
    [answer] = await store.answers(STUDY, None, 10)
    assert (answer.labels, answer.answered_at, answer.battle) == ({"quality_overall": "a"}, NOW, "battle0")


async def test_who_may_begin(database: Database) -> None:
    store, tasks = await added(database, [item(0)]), StudyTasks(database)
    assert await tasks.begin(worker("ann", participant="p1"), 2) is Begun.BEGUN
    assert await tasks.begin(worker("eve", participant="p1"), 2) is Begun.ELSEWHERE
    assert await tasks.begin(worker("ben"), 2) is Begun.BEGUN
    assert await tasks.begin(worker("cem"), 2) is Begun.FULL
    assert await tasks.begin(worker("dov", "st_none"), 2) is Begun.CLOSED
    await store.close(STUDY, NOW)
    assert await tasks.begin(worker("dov"), 9) is Begun.CLOSED
    assert await given(database, worker("ann")) is None
    assert await tasks.worker(STUDY, "hash of ann") == worker("ann", participant="p1")
    assert await tasks.worker("st_other", "hash of ann") is None


async def test_answers_are_read_in_parts(database: Database) -> None:
    store, tasks = await added(database, [item(n) for n in range(3)]), StudyTasks(database)
    for name in ("ann", "ben"):
        await tasks.begin(worker(name), 5)
        for _ in range(3):
            task = await given(database, worker(name))
            assert task is not None
            await tasks.answer(name, task.item, BETTER_A, NOW)
    first = await store.answers(STUDY, None, 4)
    rest = await store.answers(STUDY, (first[-1].worker, first[-1].item), 4)
    places = [(answer.worker, answer.item) for answer in (*first, *rest)]
    assert places == [(name, number) for name in ("ann", "ben") for number in range(3)]
    assert [(each.id, answered) for each, answered in await store.workers(STUDY)] == [("ann", 3), ("ben", 3)]


async def rows(database: Database) -> list[int]:
    tables = (studies, study_items, study_workers, study_tasks)
    return [int(await database.scalar(select(func.count()).select_from(table))) for table in tables]


async def test_a_deleted_worker_leaves_nothing(database: Database) -> None:
    store, tasks = await added(database, [item(0)]), StudyTasks(database)
    for name in ("ann", "ben"):
        await tasks.begin(worker(name), 5)
        await given(database, worker(name))
        await tasks.answer(name, 0, BETTER_A, NOW)
    assert not await store.forget_worker("st_other", "ann")
    assert await rows(database) == [1, 1, 2, 2]
    assert await store.forget_worker(STUDY, "ann")
    assert await rows(database) == [1, 1, 1, 1]
    await store.remove(STUDY)
    assert await rows(database) == [0, 0, 0, 0]


async def test_a_deleted_battle_leaves_its_studies_and_the_last_one_ends_them(database: Database) -> None:
    pairs = [(f"tides{n}", OpenItem(n, ItemKind.PAIR, "x", "y", 0)) for n in range(2)]
    await added(database, pairs)
    await StudyTasks(database).begin(worker("ann"), 5)
    await given(database, worker("ann"))
    for number in range(2):
        await evaluate(database, f"tides{number}", f"Text {number}.")
    deletions = Deletions(database)
    assert await deletions.delete("tides0", NOW) is DeletionResult.DELETED
    assert await rows(database) == [1, 1, 1, 0]
    await deletions.delete("tides1", NOW)
    assert await rows(database) == [0, 0, 0, 0]
