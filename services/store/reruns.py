"""Runs of battles that failed: a battle whose evaluation has ended in a failure is set back to running."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import case, or_, select, update

from nuggetstream.domain.failure import Stage
from nuggetstream.domain.progress import Branch
from services.store.database import Database
from services.store.progress import columns_ended_by
from services.store.tables import battles, failures

_COLUMNS = ("nugget_state", "judge_state")


@dataclass(frozen=True, slots=True)
class Restart:
    """A stage that has to run again, and the failures that are the reason.

    Attributes:
        stage: The stage.
        failures: Keys of its failures; they identify the run, so that restarting twice is one run.
    """

    stage: Stage
    failures: tuple[str, ...]


async def restart_failed(database: Database, battle_id: str, at: datetime) -> list[Restart]:
    """Set the failed branches of an ended battle back to pending.

    It is safe to call it again, for instance because the broker did not take the events of the run: while a
    branch is pending, the same stages are returned.

    Args:
        database: The database.
        battle_id: Id of the battle.
        at: The time now, from which on the new run may be quiet before it is republished.

    Returns:
        The stages that have to run again; none where the battle is in its first run, is scored, or has not
        ended yet, or where there is no such battle.

    Raises:
        Unavailable: The database does not answer.
    """
    if "\x00" in battle_id:  # no stored id has one, and PostgreSQL rejects the query
        return []
    failed = {name: battles.c[name] == Branch.FAILED.value for name in _COLUMNS}
    reset = {
        name: case((condition, Branch.PENDING.value), else_=battles.c[name])
        for name, condition in failed.items()
    }
    async with database.transaction() as tx:
        await tx.execute(  # first, because it locks the row
            update(battles)
            .where(battles.c.id == battle_id, battles.c.ended_at.is_not(None), or_(*failed.values()))
            .values(**reset, ended_at=None, republished=0, republished_at=at)
        )
        states = select(*(battles.c[name] for name in _COLUMNS)).where(battles.c.id == battle_id)
        row = (await tx.execute(states)).one_or_none()
        if row is None:
            return []
        pending = [name for name in _COLUMNS if row._mapping[name] == Branch.PENDING.value]
        columns = (failures.c.key, failures.c.stage)
        newest_first = (failures.c.failed_at.desc(), failures.c.key)
        of_battle = select(*columns).where(failures.c.battle_id == battle_id).order_by(*newest_first)
        rows = [_Failed(row.key, Stage(row.stage)) for row in await tx.execute(of_battle)]
    return _restarts(pending, rows)


class _Failed(NamedTuple):
    key: str
    stage: Stage


def _restarts(pending: Sequence[str], rows: Sequence[_Failed]) -> list[Restart]:
    """For each pending branch the stage that ended it last; a stage that ended both runs once."""
    stages: dict[Stage, list[str]] = {}
    for column in pending:
        newest = next((row for row in rows if column in columns_ended_by(row.stage)), None)
        if newest is None:
            continue
        if newest.key not in stages.setdefault(newest.stage, []):
            stages[newest.stage].append(newest.key)
    return [Restart(stage, tuple(keys)) for stage, keys in stages.items()]
