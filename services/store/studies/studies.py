"""Studies that ask people, for administrators: adding, counting, exporting and deleting."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.crowd.assignment import ItemKind, OpenItem
from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.views.crowd_studies import StudyAnswer
from services.store.batches import batches
from services.store.database import Store
from services.store.studies.study_rows import StoredStudy, StoredWorker
from services.store.studies.study_tables import studies, study_items, study_tasks, study_workers


class Studies(Store):
    """The tables of studies. Every method may raise Outage or Unavailable."""

    async def add(self, study: StoredStudy, items: Sequence[tuple[str, OpenItem]]) -> None:
        """Store a study with its items, each after the id of its battle."""
        row = {
            "id": study.id,
            "arena": study.arena,
            "definition": study.submission.model_dump(mode="json", exclude={"battles"}),
            "created_at": study.created_at,
        }
        rows = [
            {
                "study_id": study.id,
                "number": item.number,
                "battle_id": battle,
                "kind": item.kind.value,
                "system_a": item.system_a,
                "system_b": item.system_b,
                "stratum": item.stratum,
            }
            for battle, item in items
        ]

        def work(tx: Connection) -> None:
            tx.execute(insert(studies).values(row))
            for batch in batches(rows):
                tx.execute(insert(study_items), batch)

        await self._database.write(work)

    async def get(self, study_id: str) -> StoredStudy | None:
        """One study; None where there is none with this id."""
        row = await self._database.row(select(studies).where(studies.c.id == study_id))
        return None if row is None else _study(row)

    async def all(self, arenas: Collection[str] | None = None) -> list[StoredStudy]:
        """The studies of some arenas, or of all, the oldest first."""
        query = select(studies).order_by(studies.c.created_at, studies.c.id)
        if arenas is not None:
            query = query.where(studies.c.arena.in_(sorted(arenas)))
        return [_study(row) for row in await self._database.rows(query)]

    async def progress(self, study_id: str, now: datetime) -> dict[str, int]:
        """How far a study is at a time: the counts of `CrowdStudyView`, by name."""
        pairs = _tasks_of_pairs(study_id, func.count(study_tasks.c.answered_at), _open_at(now))
        items = select(func.count()).where(
            study_items.c.study_id == study_id, study_items.c.kind == ItemKind.PAIR.value
        )
        workers = select(func.count(), func.count(study_workers.c.finished_at))
        workers = workers.where(study_workers.c.study_id == study_id)

        def read(tx: Connection) -> dict[str, int]:
            answered, waiting = tx.execute(pairs).one()
            begun, finished = tx.execute(workers).one()
            return {
                "pairs": int(tx.scalar(items) or 0),
                "answered": int(answered),
                "open": int(waiting or 0),
                "workers": int(begun),
                "finished": int(finished),
            }

        return await self._database.read(read)

    async def close(self, study_id: str, at: datetime) -> None:
        """Give out no more items; closing twice changes nothing."""
        opened = update(studies).where(studies.c.id == study_id, studies.c.closed_at.is_(None))
        await self._database.execute(opened.values(closed_at=at))

    async def outcomes(self, study_id: str) -> list[tuple[str, str, str, int]]:
        """Per two systems and label of the deciding dimension the number of answers: (A, B, label, count)."""
        columns = (study_items.c.system_a, study_items.c.system_b, study_tasks.c.deciding)
        query = _tasks_of_pairs(study_id, *columns, func.count().label("answers"))
        query = query.where(study_tasks.c.answered_at.is_not(None)).group_by(*columns)
        return [
            (row.system_a, row.system_b, row.deciding, row.answers)
            for row in await self._database.rows(query)
        ]

    async def systems(self, study_id: str) -> list[tuple[str, str]]:
        """The systems A and B of the pairs of a study, each two once."""
        query = select(study_items.c.system_a, study_items.c.system_b).distinct()
        query = query.where(study_items.c.study_id == study_id, study_items.c.kind == ItemKind.PAIR.value)
        return [(row.system_a, row.system_b) for row in await self._database.rows(query)]

    async def answers(
        self, study_id: str, after: tuple[str, int] | None, limit: int, kind: ItemKind = ItemKind.PAIR
    ) -> list[StudyAnswer]:
        """Answers by worker and number of the item, from behind one of them."""
        key = (study_tasks.c.worker_id, study_tasks.c.item)
        query = select(study_tasks, study_items).join(study_items, _ITEM_OF_TASK)
        query = query.where(study_tasks.c.study_id == study_id, study_items.c.kind == kind.value)
        query = query.where(study_tasks.c.answered_at.is_not(None)).order_by(*key).limit(limit)
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(*after))
        rows = await self._database.rows(query)
        return [StudyAnswer.showing(row, worker=row.worker_id, battle=row.battle_id) for row in rows]

    async def workers(self, study_id: str) -> list[tuple[StoredWorker, int]]:
        """The workers of a study in the order in which they began, each with the pairs that it judged."""
        counted = _tasks_of_pairs(study_id, study_tasks.c.worker_id, func.count(study_tasks.c.answered_at))
        counted = counted.group_by(study_tasks.c.worker_id)
        query = select(study_workers).where(study_workers.c.study_id == study_id)
        query = query.order_by(study_workers.c.begun_at, study_workers.c.id)

        def read(tx: Connection) -> list[tuple[StoredWorker, int]]:
            answered: dict[str, int] = {row[0]: row[1] for row in tx.execute(counted)}
            return [(worker_of(row), answered.get(row.id, 0)) for row in tx.execute(query)]

        return await self._database.read(read)

    async def forget_worker(self, study_id: str, worker_id: str) -> bool:
        """Delete a worker with everything that it answered; False where the study has no such worker."""
        mine = (study_workers.c.id == worker_id) & (study_workers.c.study_id == study_id)

        def work(tx: Connection) -> bool:
            _overwriting(tx)
            if not tx.execute(delete(study_workers).where(mine)).rowcount:
                return False
            tx.execute(delete(study_tasks).where(study_tasks.c.worker_id == worker_id))
            return True

        return await self._database.write(work)

    async def remove(self, study_id: str) -> None:
        """Delete a study with its workers and their answers."""
        await self._database.write(lambda tx: _remove(tx, study_id))


_ITEM_OF_TASK = (study_items.c.study_id == study_tasks.c.study_id) & (
    study_items.c.number == study_tasks.c.item
)


def _open_at(now: datetime) -> Any:
    waiting = study_tasks.c.answered_at.is_(None) & (study_tasks.c.expires_at > now)
    return func.count().filter(waiting)


def _tasks_of_pairs(study_id: str, *columns: Any) -> Select[Any]:
    query = select(*columns).select_from(study_tasks).join(study_items, _ITEM_OF_TASK)
    return query.where(study_tasks.c.study_id == study_id, study_items.c.kind == ItemKind.PAIR.value)


async def forget_in_studies(tx: AsyncConnection, battle_id: str) -> None:
    """Delete a battle from all studies, with what was answered to it, and studies that have no other."""
    where = study_items.c.battle_id == battle_id
    items = (await tx.execute(select(study_items.c.study_id, study_items.c.number).where(where))).all()
    for study_id, number in items:
        mine = (study_tasks.c.study_id == study_id) & (study_tasks.c.item == number)
        await tx.execute(delete(study_tasks).where(mine))
    await tx.execute(delete(study_items).where(where))
    for study_id in {study_id for study_id, _ in items}:
        left = select(study_items.c.number).where(study_items.c.study_id == study_id).limit(1)
        if await tx.scalar(left) is None:
            await tx.run_sync(_remove, study_id)


def _remove(tx: Connection, study_id: str) -> None:
    _overwriting(tx)
    for table in (study_tasks, study_workers, study_items):
        tx.execute(delete(table).where(table.c.study_id == study_id))
    tx.execute(delete(studies).where(studies.c.id == study_id))


def _overwriting(tx: Connection) -> None:
    """Let SQLite overwrite what is deleted in its file."""
    if tx.dialect.name == "sqlite":
        tx.exec_driver_sql("PRAGMA secure_delete = ON")


def _study(row: Any) -> StoredStudy:
    definition = CrowdStudySubmission.model_validate(row.definition)
    return StoredStudy(row.id, row.arena, definition, row.created_at, row.closed_at)


def worker_of(row: Any) -> StoredWorker:
    """The worker in a row of its table."""
    return StoredWorker(**row._mapping)
