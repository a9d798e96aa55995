"""What evaluators had not graded when a stream was lost.

    an input was recorded before the stream began, and its evaluator left no state  ->  it may be lost

stream_starts   one row per stream ARENA that was seen; nothing of a battle
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Column, Connection, Table, select

from services.store.database import Database
from services.store.tables import events, grader_states, metadata
from services.store.utc_datetime import UtcDateTime

KEPT = timedelta(days=7)  # how long a stream keeps a message, and so the age of what a lost one had
_LATE = timedelta(minutes=1)  # what the lost stream delivered last is recorded within

stream_starts = Table(
    "stream_starts",
    metadata,
    Column("created_at", UtcDateTime(), primary_key=True),  # of the stream
    Column("examined_until", UtcDateTime(), nullable=False),  # time of recording
)


@dataclass(frozen=True, slots=True)
class LostPage:
    """Inputs that may be lost.

    Attributes:
        evaluators: Names of the evaluators that left no state, by the id of the battle.
        until: Time of recording until which inputs were examined.
        more: Whether later ones have not been examined.
    """

    evaluators: Mapping[str, Sequence[str]]
    until: datetime
    more: bool


class LostInputs:
    """Finds the inputs of evaluators that were recorded before a stream began."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, created: datetime, reads: Mapping[str, Sequence[str]], limit: int) -> LostPage:
        """The oldest inputs that have not been examined.

        Args:
            created: When the stream was created that replaced the lost one.
            reads: Names of the evaluators that read an event, by the short name of the event.
            limit: Number of events to examine; more where several were recorded at one time.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        return await self._database.read(lambda connection: _page(connection, created, reads, limit))

    async def examined(self, created: datetime, until: datetime) -> None:
        """Store until which time of recording inputs were examined.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        row = {"created_at": created, "examined_until": until}
        statement = self._database.upsert(stream_starts, ["created_at"])
        await self._database.write(lambda connection: connection.execute(statement, row))


def _page(
    connection: Connection, created: datetime, reads: Mapping[str, Sequence[str]], limit: int
) -> LostPage:
    start, end = stream_starts.c, created + _LATE
    reached = connection.scalar(select(start.examined_until).where(start.created_at == created))
    since = reached or created - KEPT
    at = events.c.recorded_at
    times = select(at).where(events.c.name.in_(sorted(reads)), at > since, at <= end).order_by(at)
    last = connection.scalar(times.offset(limit - 1).limit(1))  # all events of one time are on one page
    until = end if last is None else last
    query = select(events.c.battle_id, events.c.name).where(
        events.c.name.in_(sorted(reads)), at > since, at <= until
    )
    wanted = {(row.battle_id, name) for row in connection.execute(query) for name in reads[row.name]}
    ids = sorted({battle_id for battle_id, _ in wanted})
    state = grader_states.c
    known = connection.execute(select(state.battle_id, state.evaluator).where(state.battle_id.in_(ids)))
    missing: dict[str, list[str]] = {}
    for battle_id, name in sorted(wanted - {(row.battle_id, row.evaluator) for row in known}):
        missing.setdefault(battle_id, []).append(name)
    return LostPage(missing, until, more=until < end)
