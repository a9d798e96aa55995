"""Failures of battles for administrators: which are open, and which were discarded."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, or_, select, update

from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage, branches_of
from nuggetstream.domain.progress import Branch
from services.store.database import Store
from services.store.tables import battles, failures
from services.store.work.pending import work


@dataclass(frozen=True, slots=True)
class FailureFilter:
    """Filter that selects failures; None selects all.

    Attributes:
        reason: Reason of the failure.
        stage: Stage that gave up.
        arena: Arena of the battle.
        battle: Id of the battle.
        since: Earliest time of the failure.
        until: Time before which the stage gave up.
        closed: Whether failures are selected that were discarded, or made good by a later run.
        within: Arenas of the battles.
    """

    reason: Reason | None = None
    stage: Stage | None = None
    arena: str | None = None
    battle: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    closed: bool = False
    within: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class FailedBattle:
    """A failure of a battle as stored.

    Attributes:
        key: Key of the failure.
        battle_id: The battle.
        arena: Its arena.
        failure: What failed, and why.
        failed_at: When.
        open: Whether its branch is still failed and nobody discarded it.
    """

    key: str
    battle_id: str
    arena: str
    failure: StageFailure
    failed_at: datetime
    open: bool


class FailedBattles(Store):
    """The failures table, for administrators."""

    async def select(
        self, selection: FailureFilter, limit: int, after: tuple[datetime, str] | None = None
    ) -> list[FailedBattle]:
        """The newest failures that the filter selects, newest first, and by key where times are equal.

        Args:
            selection: The filter.
            limit: Maximum number of failures.
            after: Time and key of a failure, to read on behind it.
        """
        query = _query().where(*_conditions(selection)).limit(limit)
        if after is not None:
            at, key = after
            same_time = and_(failures.c.failed_at == at, failures.c.key > key)
            query = query.where(or_(failures.c.failed_at < at, same_time))
        rows = await self._database.rows(query.order_by(failures.c.failed_at.desc(), failures.c.key))
        return [_failed_battle(row) for row in rows]

    async def get(self, key: str) -> FailedBattle | None:
        """One failure; None when there is none with this key."""
        row = await self._database.row(_query().where(failures.c.key == key))
        return None if row is None else _failed_battle(row)

    async def discard(self, key: str, at: datetime) -> None:
        """Mark a failure as discarded; the first time counts."""
        open_one = (failures.c.key == key, failures.c.discarded_at.is_(None))
        await self._database.execute(update(failures).where(*open_one).values(discarded_at=at))


def _query() -> Select[Any]:
    joined = failures.join(battles, battles.c.id == failures.c.battle_id)
    return select(*failures.c, _is_open().label("open")).select_from(joined)


def _is_open() -> ColumnElement[bool]:
    newer = failures.alias("newer")
    superseded = select(newer.c.key).where(
        newer.c.battle_id == failures.c.battle_id,
        newer.c.stage == failures.c.stage,
        newer.c.evaluator.is_not_distinct_from(failures.c.evaluator),
        newer.c.failed_at > failures.c.failed_at,
    )
    ended = [
        and_(failures.c.stage == stage.value, battles.c[column] == Branch.FAILED.value)
        for stage in Stage
        for column in branches_of(stage)
    ]
    ungraded = select(work.c.evaluator).where(
        work.c.battle_id == failures.c.battle_id,
        work.c.stage == Stage.GRADER.value,
        work.c.evaluator == failures.c.evaluator,
        work.c.state == Branch.FAILED.value,
    )
    ended.append(and_(failures.c.stage == Stage.GRADER.value, ungraded.exists()))
    return and_(failures.c.discarded_at.is_(None), or_(*ended), ~superseded.exists())


def _conditions(selection: FailureFilter) -> list[ColumnElement[bool]]:
    conditions = [] if selection.closed else [_is_open()]
    columns = failures.c
    for column, value in (
        (columns.reason, selection.reason and selection.reason.value),
        (columns.stage, selection.stage and selection.stage.value),
        (columns.arena, selection.arena),
        (columns.battle_id, selection.battle),
    ):
        if value is not None:
            conditions.append(column == value)
    if selection.within is not None:
        conditions.append(columns.arena.in_(sorted(selection.within)))
    if selection.since is not None:
        conditions.append(columns.failed_at >= selection.since)
    if selection.until is not None:
        conditions.append(columns.failed_at < selection.until)
    return conditions


def _failed_battle(row: Row[Any]) -> FailedBattle:
    failure = StageFailure(
        stage=Stage(row.stage),
        reason=Reason(row.reason),
        detail=row.detail,
        attempts=row.attempts,
        admin_detail=row.admin_detail,
        evaluator=row.evaluator,
    )
    return FailedBattle(
        key=row.key,
        battle_id=row.battle_id,
        arena=row.arena,
        failure=failure,
        failed_at=row.failed_at,
        open=bool(row.open),
    )
