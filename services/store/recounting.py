"""What the rater never counted of a battle is expected again, so that the recorder publishes it once more.

    lists and verdicts that are recorded and not counted  ->  their rows in `pending_outcomes`
    the newest vote, where it is not counted              ->  its row in `pending_votes`

The rows are those of an event that was just recorded, so what they lead to is the same: republications with
pauses, until the outcome is stored or the recorder gives it up again, as another failure.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, Table, func, select, update

from nuggetstream.domain.event import BattleEvent, BattleVoted, source_of
from services.store import pending_outcomes, pending_votes
from services.store.database import Database
from services.store.event_reading import RecordedEvent
from services.store.failure_rows import RecordedFailure
from services.store.tables import battles, failures
from services.wire.codec import decode_alone

_Recorded = Sequence[tuple[BattleEvent, int]]


async def count_again(
    database: Database, key: str, failure: RecordedFailure, events: Sequence[RecordedEvent], now: datetime
) -> bool:
    """Expect again what the rater has not counted of a battle, and close the failure that says so.

    Args:
        database: The database.
        key: Key of the failure, which is open.
        failure: The failure.
        events: The events of its battle.
        now: The time now.

    Returns:
        False where there is nothing to publish: everything recorded is counted, and no vote is kept.

    Raises:
        Outage, Unavailable: The database does not answer; nothing was changed.
    """
    decoded = [
        (cast(BattleEvent, decode_alone(event.schema, event.body)), event.sequence) for event in events
    ]
    stated = [each for each in decoded if source_of(each[0]) is not None]

    def write(connection: Connection) -> bool:
        locked = select(battles.c.id).where(battles.c.id == failure.battle_id).with_for_update()
        if connection.scalar(locked) is None or not _expect(connection, failure, stated, now):
            return False
        open_one = (failures.c.key == key, failures.c.discarded_at.is_(None))
        connection.execute(update(failures).where(*open_one).values(discarded_at=now))
        return True

    return await database.write(write)


def _expect(connection: Connection, failure: RecordedFailure, stated: _Recorded, now: datetime) -> bool:
    """Write the rows of a battle; whether any of them waits."""
    pending_votes.wake(connection, failure.battle_id, now)
    votes = [event for event, _ in stated if isinstance(event, BattleVoted)]
    pending_votes.note_recorded(connection, votes, failure.failed_at)
    pending_votes.forget_stored(connection, [failure.battle_id])
    pending_outcomes.note_recorded(connection, stated, failure.failed_at)
    pending_outcomes.forget_counted_of(connection, failure.battle_id)
    tables = (pending_votes.pending_votes, pending_outcomes.pending_outcomes)
    return any(_rows_of(connection, table, failure.battle_id) for table in tables)


def _rows_of(connection: Connection, table: Table, battle_id: str) -> int:
    query = select(func.count()).select_from(table).where(table.c.battle_id == battle_id)
    return int(connection.scalar(query) or 0)
