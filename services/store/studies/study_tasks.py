"""What the workers of a study are given, and what they answer.

An item whose time is over counts no longer, so somebody else is given it. Who is given what is decided in one
transaction at a time per study, so that no pair gets more workers than it needs.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from nuggetstream.crowd.assignment import ItemKind, OpenItem
from services.store.database import Store
from services.store.locks import lock
from services.store.studies.studies import worker_of
from services.store.studies.study_rows import StoredWorker
from services.store.studies.study_tables import studies, study_items, study_tasks, study_workers

Choose = Callable[[list[OpenItem], list[OpenItem]], OpenItem | None]
"""From what a worker answered, and what it could be given, to what it is given."""


class Begun(StrEnum):
    """What became of the wish to take part."""

    BEGUN = "begun"
    CLOSED = "closed"  # or there is no such study
    FULL = "full"
    ELSEWHERE = "elsewhere"  # the participant began with another cookie


class Answered(StrEnum):
    """What became of an answer."""

    STORED = "stored"  # now, or the same answer before
    LATE = "late"
    TWICE = "twice"
    UNKNOWN = "unknown"  # the worker was not given the item


@dataclass(frozen=True, slots=True)
class Task:
    """An item that a worker has before it.

    Attributes:
        item: Number of the item.
        battle: Id of its battle.
        kind: What it is for.
        position: Place in the worker's session, from 1.
        reversed: Whether B is shown first.
        expires_at: When somebody else is given it.
    """

    item: int
    battle: str
    kind: ItemKind
    position: int
    reversed: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker answers to an item.

    Attributes:
        labels: Name -> label; a is answer A.
        deciding: What they say in the last dimension.
        justification: The reason, if one was asked for.
    """

    labels: Mapping[str, str]
    deciding: str
    justification: str | None = None


class StudyTasks(Store):
    """What workers do. Every method may raise Outage or Unavailable."""

    async def begin(self, worker: StoredWorker, most: int) -> Begun:
        """Let somebody take part, while fewer than `most` workers do."""
        in_study = study_workers.c.study_id == worker.study_id
        values = {name: getattr(worker, name) for name in study_workers.c.keys()}  # noqa: SIM118

        def work(tx: Connection) -> Begun:
            lock(tx, [_key(worker.study_id)])
            if not _is_open(tx, worker.study_id):
                return Begun.CLOSED
            same = study_workers.c.participant == worker.participant
            if worker.participant is not None and tx.scalar(select(func.count()).where(in_study, same)):
                return Begun.ELSEWHERE
            if int(tx.scalar(select(func.count()).where(in_study)) or 0) >= most:
                return Begun.FULL
            tx.execute(insert(study_workers).values(values))
            return Begun.BEGUN

        return await self._database.write(work)

    async def worker(self, study_id: str, cookie: str) -> StoredWorker | None:
        """The worker of a study with the hash of a secret; None where there is none."""
        query = select(study_workers).where(study_workers.c.cookie == cookie)
        row = await self._database.row(query.where(study_workers.c.study_id == study_id))
        return None if row is None else worker_of(row)

    async def current(self, worker_id: str, now: datetime) -> Task | None:
        """What a worker has before it; None where its time is over, or there is nothing."""
        return await self._database.read(lambda tx: _current(tx, worker_id, now))

    async def latest(self, worker_id: str) -> tuple[Task, dict[str, str]] | None:
        """What a worker answered last, and its labels; None before the first answer."""
        query = _TASKS.where(study_tasks.c.worker_id == worker_id, study_tasks.c.answered_at.is_not(None))
        rows = await self._database.rows(query.order_by(study_tasks.c.position.desc()).limit(1))
        return (_task(rows[0]), dict(rows[0].labels)) if rows else None

    async def give(
        self, worker: StoredWorker, choose: Choose, now: datetime, until: datetime, order: Callable[..., bool]
    ) -> Task | None:
        """Give a worker the next item, or what it has before it already.

        Args:
            worker: The worker.
            choose: Chooses the item.
            now: The time.
            until: When somebody else is given it.
            order: From number and `taken` of an item to whether B is shown first.

        Returns:
            The item; None where there is none, and then a worker who answered anything has finished.
        """

        def work(tx: Connection) -> Task | None:
            lock(tx, [_key(worker.study_id)])
            mine = select(study_workers.c.finished_at).where(study_workers.c.id == worker.id)
            row = tx.execute(mine).one_or_none()
            if row is None or row.finished_at is not None:
                return None
            if (current := _current(tx, worker.id, now)) is not None:
                return current
            given = _met(tx, worker)
            met, done = {item.number for item, _ in given}, [item for item, answered in given if answered]
            chosen = None
            if _is_open(tx, worker.study_id):
                chosen = choose(done, _candidates(tx, worker.study_id, now, met))
            if chosen is None:
                if done:
                    ended = update(study_workers).where(study_workers.c.id == worker.id)
                    tx.execute(ended.values(finished_at=now))
                return None
            values = {
                "worker_id": worker.id,
                "item": chosen.number,
                "study_id": worker.study_id,
                "position": len(met) + 1,
                "reversed": order(chosen.number, chosen.taken),
                "given_at": now,
                "expires_at": until,
            }
            tx.execute(insert(study_tasks).values(values))
            return _current(tx, worker.id, now)

        return await self._database.write(work)

    async def is_reversed(self, worker_id: str, item: int) -> bool | None:
        """Whether an item showed a worker B first; None where the worker was not given it."""
        mine = (study_tasks.c.worker_id == worker_id) & (study_tasks.c.item == item)
        shown: bool | None = await self._database.scalar(select(study_tasks.c.reversed).where(mine))
        return shown

    async def answer(self, worker_id: str, item: int, answer: Answer, now: datetime) -> Answered:
        """Store what a worker answers; the first answer stays."""
        mine = (study_tasks.c.worker_id == worker_id) & (study_tasks.c.item == item)
        waiting = study_tasks.c.answered_at.is_(None) & (study_tasks.c.expires_at > now)
        values = {
            "answered_at": now,
            "labels": dict(answer.labels),
            "deciding": answer.deciding,
            "justification": answer.justification,
        }

        def work(tx: Connection) -> Answered:
            if tx.execute(update(study_tasks).where(mine, waiting).values(values)).rowcount:
                return Answered.STORED
            row = tx.execute(select(study_tasks).where(mine)).one_or_none()
            if row is None:
                return Answered.UNKNOWN
            if row.answered_at is None:
                return Answered.LATE
            same = (row.labels, row.justification) == (dict(answer.labels), answer.justification)
            return Answered.STORED if same else Answered.TWICE

        return await self._database.write(work)


_ITEM = (study_items.c.study_id == study_tasks.c.study_id) & (study_items.c.number == study_tasks.c.item)
_TASKS = select(study_tasks, study_items.c.battle_id, study_items.c.kind).join(study_items, _ITEM)


def _key(study_id: str) -> str:
    return f"study {study_id}"


def _is_open(tx: Connection, study_id: str) -> bool:
    opened = select(studies.c.id).where(studies.c.id == study_id, studies.c.closed_at.is_(None))
    return tx.scalar(opened) is not None


def _current(tx: Connection, worker_id: str, now: datetime) -> Task | None:
    waiting = study_tasks.c.answered_at.is_(None) & (study_tasks.c.expires_at > now)
    row = tx.execute(_TASKS.where(study_tasks.c.worker_id == worker_id, waiting)).one_or_none()
    return None if row is None else _task(row)


def _met(tx: Connection, worker: StoredWorker) -> list[tuple[OpenItem, bool]]:
    """The items that a worker was given, and whether it answered."""
    query = select(study_items, study_tasks.c.answered_at).join(study_tasks, _ITEM)
    rows = tx.execute(query.where(study_tasks.c.worker_id == worker.id))
    return [(_item(row, 0), row.answered_at is not None) for row in rows]


def _candidates(tx: Connection, study_id: str, now: datetime, met: Collection[int]) -> list[OpenItem]:
    """The items of a study that a worker has not met, each with the number of workers who have it."""
    counting = or_(study_tasks.c.answered_at.is_not(None), study_tasks.c.expires_at > now)
    taken = select(study_tasks.c.item, func.count()).where(study_tasks.c.study_id == study_id, counting)
    counts: dict[int, int] = {row[0]: row[1] for row in tx.execute(taken.group_by(study_tasks.c.item))}
    items = tx.execute(select(study_items).where(study_items.c.study_id == study_id))
    return [_item(row, counts.get(row.number, 0)) for row in items if row.number not in met]


def _item(row: Any, taken: int) -> OpenItem:
    return OpenItem(
        number=row.number,
        kind=ItemKind(row.kind),
        system_a=row.system_a,
        system_b=row.system_b,
        stratum=row.stratum,
        taken=taken,
    )


def _task(row: Any) -> Task:
    return Task(
        item=row.item,
        battle=row.battle_id,
        kind=ItemKind(row.kind),
        position=row.position,
        reversed=row.reversed,
        expires_at=row.expires_at,
    )
