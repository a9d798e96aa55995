"""Votes that were cast and are not yet both recorded and counted.

    a vote that is cast      ->  a row, before it is published
    its event is recorded    ->  the row is deleted
    a vote that is given up  ->  its row stays, and is never due unless an administrator retries it

A stream that is lost takes the messages of such votes with it; the recorder publishes them again from their
rows. A battle has one row, because its newest vote counts. The table contains only what waits and what was
given up, so it stays small however many battles are stored.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import itemgetter
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
    literal,
    select,
    update,
)

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleVoted
from nuggetstream.domain.lens import Lens
from services.runtime.grouping import Grouping
from services.store.database import Database, insert_into
from services.store.tables import battles, events, metadata, outcomes
from services.store.utc_datetime import UtcDateTime

PUBLISHED_WITHIN = timedelta(
    minutes=1
)  # longer than storing and publishing take before the client gets an error
_LONGEST_PAUSE = timedelta(hours=1)
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # when a vote is due that was given up
_MAX_GROUP = 128  # votes in one transaction

pending_votes = Table(
    "pending_votes",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("key", String(64), nullable=False),  # of the event
    Column("vote", String(8), nullable=False),
    Column("voted_at", UtcDateTime(), nullable=False),
    Column("published_at", UtcDateTime(), nullable=False),  # when it was last about to be published
    Column("republished", Integer, nullable=False),
    Column("due_at", UtcDateTime(), nullable=False, index=True),  # when it is to be published again
)
_OF_BATTLES = pending_votes.c.battle_id.in_(bindparam("ids", expanding=True))
_STORED = exists().where(events.c.message_id == literal(f"{BattleVoted.__name__}:") + pending_votes.c.key)
_LOCKED = (
    select(pending_votes.c.battle_id).where(_OF_BATTLES).order_by(pending_votes.c.battle_id).with_for_update()
)
_BATTLES = (
    select(battles.c.id, battles.c.arena, battles.c.system_a, battles.c.system_b)
    .where(battles.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(battles.c.id)
)
_WAITING = select(pending_votes.c.battle_id, pending_votes.c.voted_at.label("at")).where(_OF_BATTLES)
_COUNTED = select(outcomes.c.battle_id, outcomes.c.decided_at.label("at")).where(
    outcomes.c.battle_id.in_(bindparam("ids", expanding=True)), outcomes.c.source == Lens.HUMAN.value
)
_DUE = (
    select(pending_votes, _STORED.label("stored"), battles.c.arena, battles.c.system_a, battles.c.system_b)
    .outerjoin(battles, battles.c.id == pending_votes.c.battle_id)
    .where(pending_votes.c.due_at <= bindparam("now"), pending_votes.c.published_at < bindparam("before"))
    .order_by(pending_votes.c.due_at, pending_votes.c.battle_id)
    .limit(bindparam("limit"))
    .with_for_update(of=pending_votes, skip_locked=True)  # another recorder publishes those
)
_REPUBLISHED = (
    update(pending_votes)
    .where(pending_votes.c.battle_id == bindparam("battle"))
    .values(
        published_at=bindparam("at"), republished=pending_votes.c.republished + 1, due_at=bindparam("due")
    )
)


@dataclass(frozen=True, slots=True)
class CastVote:
    """A vote to be stored.

    Attributes:
        battle_id: Id of its battle.
        key: Key of its event.
        vote: The vote.
        voted_at: When it was cast.
    """

    battle_id: str
    key: str
    vote: Vote
    voted_at: datetime


@dataclass(frozen=True, slots=True)
class DueVote:
    """A vote that was published a while ago, and whose event or outcome is not stored.

    Attributes:
        battle_id: Id of its battle.
        key: Key of its event.
        event: The event; None when the battle is not stored.
        republished: How often it was published again before.
    """

    battle_id: str
    key: str
    event: BattleVoted | None
    republished: int


class PendingVotes:
    """The table of votes that are not yet recorded and counted."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keep: Grouping[CastVote, BattleVoted | None] = Grouping(self._keep_all, _MAX_GROUP)

    async def keep(self, vote: CastVote) -> BattleVoted | None:
        """Store a vote as the newest of its battle; votes that wait share a transaction.

        Returns:
            The event to publish; None when there is no such battle.

        Raises:
            Outage, Unavailable: The database does not answer; the vote was not stored.
        """
        if "\x00" in vote.battle_id:  # no stored id has one, and PostgreSQL rejects the query
            return None
        return await self._keep(vote)

    async def take_due(self, now: datetime, oldest: datetime | None, limit: int) -> list[DueVote]:
        """The votes to be published again, and count it; those stored by now are forgotten instead.

        Args:
            now: The time now.
            oldest: When the oldest vote that waits in the stream was published; None when none waits. Votes
                that may be in the stream are not due.
            limit: Maximum number of votes.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        before = now if oldest is None else min(now, oldest - PUBLISHED_WITHIN)
        return await self._database.write(
            lambda connection: _take_due(connection, {"now": now, "before": before, "limit": limit})
        )

    async def forget(self, vote: DueVote) -> None:
        """Delete the row of a vote unless a newer one has replaced it."""
        row = delete(pending_votes).where(
            pending_votes.c.battle_id == vote.battle_id, pending_votes.c.key == vote.key
        )
        await self._database.write(lambda connection: connection.execute(row))

    async def give_up(self, vote: DueVote) -> None:
        """Publish a vote no more; its row stays until it is counted, replaced by a newer one, or retried."""
        row = update(pending_votes).where(
            pending_votes.c.battle_id == vote.battle_id, pending_votes.c.key == vote.key
        )
        await self._database.write(lambda connection: connection.execute(row.values(due_at=_NEVER)))

    async def _keep_all(self, votes: Sequence[CastVote]) -> Sequence[BattleVoted | None]:
        return await self._database.write(lambda connection: _keep_all(connection, votes))


def wake(connection: Connection, battle_id: str, now: datetime) -> bool:
    """Publish the vote of a battle again from now on, if it was given up; whether it was."""
    given_up = (pending_votes.c.battle_id == battle_id, pending_votes.c.due_at == _NEVER)
    woken = update(pending_votes).where(*given_up).values(due_at=now, republished=0)
    return bool(connection.execute(woken).rowcount)


def forget_stored(connection: Connection, battle_ids: Collection[str]) -> None:
    """Delete the rows of votes whose event and outcome are both stored.

    Args:
        connection: Connection in the transaction that has stored one of the two.
        battle_ids: Their battles.
    """
    if not battle_ids:
        return
    waiting = connection.scalars(_LOCKED, {"ids": sorted(battle_ids)}).all()
    if waiting:
        connection.execute(delete(pending_votes).where(_OF_BATTLES, _STORED), {"ids": waiting})


def _keep_all(connection: Connection, votes: Sequence[CastVote]) -> list[BattleVoted | None]:
    ids = sorted({vote.battle_id for vote in votes})
    # Locked, so that a battle that is deleted meanwhile leaves no vote behind, and its votes have an order.
    locked = _BATTLES.with_for_update(key_share=True)
    rows = {row.id: row for row in connection.execute(locked, {"ids": ids})}
    ordered = _ordered(votes, _newest(connection, sorted(rows)))
    both = zip(ordered, votes, strict=True)
    kept = [_row(vote, cast.voted_at) for vote, cast in both if vote.battle_id in rows]
    if kept:
        kept.sort(key=itemgetter("battle_id"))
        connection.execute(_keeping(connection.dialect.name), kept)
    return [_event(rows[vote.battle_id], vote) if vote.battle_id in rows else None for vote in ordered]


def _newest(connection: Connection, battle_ids: Sequence[str]) -> dict[str, datetime]:
    """The times of the newest votes of battles, whether they wait or are counted."""
    newest: dict[str, datetime] = {}
    for query in (_COUNTED, _WAITING):
        for row in connection.execute(query, {"ids": battle_ids}):
            newest[row.battle_id] = max(row.at, newest.get(row.battle_id, row.at))
    return newest


def _ordered(votes: Sequence[CastVote], newest: dict[str, datetime]) -> list[CastVote]:
    """Votes with times in the order of the database, so that no gateway's clock decides which counts."""
    ordered = []
    for vote in votes:
        at = vote.voted_at
        if (last := newest.get(vote.battle_id)) is not None:
            at = max(at, last + timedelta.resolution)
        newest[vote.battle_id] = at
        ordered.append(replace(vote, voted_at=at))
    return ordered


def _take_due(connection: Connection, values: dict[str, Any]) -> list[DueVote]:
    rows = connection.execute(_DUE, values).all()
    if stored := [row.battle_id for row in rows if row.stored]:
        connection.execute(delete(pending_votes).where(_OF_BATTLES), {"ids": stored})
    if due := [row for row in rows if not row.stored]:
        connection.execute(_REPUBLISHED, [_republished(row, values["now"]) for row in due])
    return [_due(row) for row in due]


def pause_after(republished: int) -> timedelta:
    """The time until the next republication: it doubles, up to an hour.

    The broker drops what it recognises as a duplicate, for ten minutes.

    Args:
        republished: Number of republications so far, at least 1.

    >>> [pause_after(times) / timedelta(minutes=1) for times in (1, 2, 9)]
    [2.0, 4.0, 60.0]
    """
    return min(_LONGEST_PAUSE, PUBLISHED_WITHIN * (1 << min(republished, 10)))


def _republished(row: Any, now: datetime) -> dict[str, Any]:
    return {"battle": row.battle_id, "at": now, "due": now + pause_after(row.republished + 1)}


def _due(row: Any) -> DueVote:
    cast = CastVote(row.battle_id, row.key, Vote(row.vote), row.voted_at)
    event = None if row.arena is None else _event(row, cast)
    return DueVote(row.battle_id, row.key, event, row.republished)


def _event(battle: Any, vote: CastVote) -> BattleVoted:
    return BattleVoted(
        key=vote.key,
        battle_id=vote.battle_id,
        arena=battle.arena,
        system_a=battle.system_a,
        system_b=battle.system_b,
        vote=vote.vote,
        voted_at=vote.voted_at,
    )


def _row(vote: CastVote, published_at: datetime) -> dict[str, Any]:
    return {
        "battle_id": vote.battle_id,
        "key": vote.key,
        "vote": vote.vote.value,
        "voted_at": vote.voted_at,
        "published_at": published_at,
        "republished": 0,
        "due_at": published_at + PUBLISHED_WITHIN,
    }


@cache
def _keeping(dialect: str) -> Any:
    """An INSERT that replaces an older vote of the same battle."""
    statement = insert_into(dialect, pending_votes)
    new = {c.name: statement.excluded[c.name] for c in pending_votes.c if c.name != "battle_id"}
    newer = statement.excluded.voted_at >= pending_votes.c.voted_at
    return statement.on_conflict_do_update(index_elements=["battle_id"], set_=new, where=newer)
