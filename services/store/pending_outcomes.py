"""Outcomes of recorded events that are not known to be counted.

    an event that states an outcome is recorded  ->  a row, in the same transaction
    the outcome is stored                        ->  the row is deleted within minutes, many in one statement

A stream that is lost between recorder and rater takes such events with it; the recorder publishes them again
from the database. A battle has one row per source, because the newest event of a source counts. The table
contains only what waits and what was recorded in the last minutes, however many battles are stored. The rater
neither reads nor writes it. Votes have rows of their own, see `pending_votes.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    String,
    Table,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from nuggetstream.domain.event import BattleEvent, BattleVoted, battle_id_of, list_version_of, source_of
from services.store.database import Database, insert_into
from services.store.outcome import end_of_key
from services.store.pending_votes import PUBLISHED_WITHIN, pause_after
from services.store.tables import metadata, outcomes
from services.store.utc_datetime import UtcDateTime

_EXAMINED_AT_ONCE = 1000  # rows in one transaction

pending_outcomes = Table(
    "pending_outcomes",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("source", String(80), primary_key=True),
    Column("event_key", String(8), nullable=False),  # as in outcomes
    Column("list_version", Integer, nullable=False),  # 1 where the outcome rests on no list
    Column("sequence", Integer, nullable=False),  # of the event
    # When the event was published last, or recorded, which is later.
    Column("published_at", UtcDateTime(), nullable=False, index=True),
    Column("republished", Integer, nullable=False),
    Column("due_at", UtcDateTime(), nullable=False),  # when it is to be published again
)
_row = pending_outcomes.c
_KEY = tuple_(_row.battle_id, _row.source)
_COUNTED = exists().where(
    outcomes.c.battle_id == _row.battle_id,
    outcomes.c.source == _row.source,
    or_(
        outcomes.c.event_key == _row.event_key, func.coalesce(outcomes.c.list_version, 1) > _row.list_version
    ),
)
_OLDEST = (
    select(_row.battle_id, _row.source)
    .where(_row.published_at < bindparam("before"))
    .order_by(_row.published_at)
    .limit(_EXAMINED_AT_ONCE)
    .with_for_update(skip_locked=True)  # another recorder deletes or publishes those
)
_FORGET = delete(pending_outcomes).where(_KEY.in_(_OLDEST), _COUNTED)
_DUE = (
    select(pending_outcomes)
    .where(_row.published_at < bindparam("before"), _row.due_at <= bindparam("now"), ~_COUNTED)
    .order_by(_row.published_at)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_REPUBLISHED = (
    update(pending_outcomes)
    .where(_row.battle_id == bindparam("battle"), _row.source == bindparam("of"))
    .values(published_at=bindparam("at"), republished=_row.republished + 1, due_at=bindparam("due"))
)


@dataclass(frozen=True, slots=True)
class DueOutcome:
    """An outcome whose event was published a while ago, and that is not counted.

    Attributes:
        battle_id: Id of its battle.
        source: Its source.
        event_key: End of the key of the event.
        sequence: Number of the event within the battle.
        republished: How often the event was published again before.
    """

    battle_id: str
    source: str
    event_key: str
    sequence: int
    republished: int


class PendingOutcomes:
    """The table of outcomes that are not known to be counted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget_counted(self, now: datetime) -> None:
        """Delete the rows of counted outcomes, the oldest first, as long as most of the oldest are counted.

        So a rater that is behind, or away, costs one query and not one over all that waits for it.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        values = {"before": now - PUBLISHED_WITHIN}
        while await self._database.write(lambda tx: _forget(tx, values)) > _EXAMINED_AT_ONCE // 2:
            pass

    async def take_due(self, now: datetime, oldest: datetime | None, limit: int) -> list[DueOutcome]:
        """The outcomes whose events are to be published again, and count it.

        Args:
            now: The time now.
            oldest: When the oldest event that waits for the rater was published; None when none waits. Events
                that may be in the stream are not due.
            limit: Maximum number of outcomes.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        before = (now if oldest is None else min(now, oldest)) - PUBLISHED_WITHIN
        values = {"now": now, "before": before, "limit": limit}
        return await self._database.write(lambda tx: _take_due(tx, values))

    async def forget(self, due: DueOutcome) -> None:
        """Delete the row of an outcome unless that of a newer event has replaced it."""
        row = delete(pending_outcomes).where(
            _row.battle_id == due.battle_id, _row.source == due.source, _row.event_key == due.event_key
        )
        await self._database.write(lambda tx: tx.execute(row))


def note_recorded(connection: Connection, recorded: Iterable[tuple[BattleEvent, int]], at: datetime) -> None:
    """Store which outcomes events state, in one statement; without such an event in none.

    Args:
        connection: The transaction, in which the rows of the battles are locked.
        recorded: The events in order, with their numbers within their battles.
        at: When they are recorded.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for event, sequence in recorded:
        source = None if isinstance(event, BattleVoted) else source_of(event)
        if source is None:
            continue
        key, version = (battle_id_of(event), source), list_version_of(event) or 1
        if key not in rows or rows[key]["list_version"] <= version:
            row: dict[str, Any] = dict(zip(("battle_id", "source"), key, strict=True))
            row |= {"event_key": end_of_key(event.key), "list_version": version, "sequence": sequence}
            rows[key] = row | {"published_at": at, "republished": 0, "due_at": at + PUBLISHED_WITHIN}
    if rows:
        connection.execute(_noting(connection.dialect.name), [rows[key] for key in sorted(rows)])


def forget_counted_of(connection: Connection, battle_id: str) -> None:
    """Delete the rows of a battle whose outcomes are counted."""
    connection.execute(delete(pending_outcomes).where(_row.battle_id == battle_id, _COUNTED))


def _forget(connection: Connection, values: dict[str, Any]) -> int:
    return connection.execute(_FORGET, values).rowcount


def _take_due(connection: Connection, values: dict[str, Any]) -> list[DueOutcome]:
    rows = connection.execute(_DUE, values).all()
    if rows:
        connection.execute(_REPUBLISHED, [_republished(row, values["now"]) for row in rows])
    return [
        DueOutcome(row.battle_id, row.source, row.event_key, row.sequence, row.republished) for row in rows
    ]


def _republished(row: Any, now: datetime) -> dict[str, Any]:
    due = now + pause_after(row.republished + 1)
    return {"battle": row.battle_id, "of": row.source, "at": now, "due": due}


@cache
def _noting(dialect: str) -> Any:
    """An INSERT that replaces the row of an earlier event of the same source, unless its list is newer."""
    statement = insert_into(dialect, pending_outcomes)
    keys = ["battle_id", "source"]
    new = {column.name: statement.excluded[column.name] for column in _row if column.name not in keys}
    as_new = statement.excluded.list_version >= _row.list_version
    return statement.on_conflict_do_update(index_elements=keys, set_=new, where=as_new)
