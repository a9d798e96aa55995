"""What changed in the table of chunks, for indexes that follow it.

No writer waits for a reader, and no reader for a writer. In PostgreSQL a row has the number of the
transaction that wrote it. A reader notes the oldest transaction that still runs, and then reads the rows of
that one and of all later ones: whatever it cannot see yet, it reads the next time. So it reads some rows
twice, and misses none. SQLite has one writer at a time, so its rows appear in the order of their positions.

A dump keeps these numbers, which mean nothing in another cluster. Numbers that a transaction here cannot
have had yet would be later than every mark, so their rows would be read again and again. Whoever reads first
gives such rows the number of its own transaction: then each reader that runs meets them once.
"""

from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Row, func, select, text

from services.store.content.chunk_tables import chunks, removed_chunks
from services.store.database import Store

log = structlog.get_logger(__name__)

_RENUMBERED = 20_000  # rows that are numbered again in one transaction
_NEXT = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"  # later than every transaction that is seen
# The largest number is at the end of the index, so that this costs nothing where no row comes from elsewhere.
_STATE = text(
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest, "  # noqa: S608 - our own names
    f"coalesce((SELECT max(transaction_number) FROM chunks) >= {_NEXT}, false) AS restored"
)
# Rows that another transaction holds, such as one that deletes them, are left for the next time.
_RENUMBER = text(
    "WITH restored AS MATERIALIZED (SELECT position FROM chunks "  # noqa: S608 - our own names
    f"WHERE transaction_number >= {_NEXT} ORDER BY transaction_number DESC "
    f"LIMIT {_RENUMBERED} FOR NO KEY UPDATE SKIP LOCKED) "
    "UPDATE chunks SET transaction_number = pg_current_xact_id()::text::bigint "
    "WHERE position = ANY (ARRAY(SELECT position FROM restored))"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a reader has read.

    Attributes:
        written: Position of the last chunk in SQLite; in PostgreSQL the oldest transaction that ran.
        removed: Number of the last deletion.
    """

    written: int
    removed: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a mark. What was removed may have been added again.

    Attributes:
        mark: Where the next reading begins.
        added: Ids of new chunks, and of some that the reader knows.
        removed: Ids of chunks that were deleted.
        complete: Whether that is everything; otherwise all ids must be compared, for instance because so many
            chunks were deleted that the oldest deletions are forgotten, or because the mark is of another
            cluster.
    """

    mark: Mark
    added: tuple[str, ...]
    removed: tuple[str, ...]
    complete: bool = True


class ChunkChanges(Store):
    """Reads what changed in the table of chunks."""

    async def mark(self) -> Mark:
        """A mark before everything that is not committed now."""
        written = await self._written()
        removed = await self._database.scalar(select(func.max(removed_chunks.c.number)))
        return Mark(written, removed or 0)

    async def ids(self, after: int, limit: int) -> tuple[int, list[str]]:
        """The ids of the next chunks after a position, and the position of the last of them."""
        query = select(chunks.c.position, chunks.c.id).where(chunks.c.position > after)
        rows = await self._database.rows(query.order_by(chunks.c.position).limit(limit))
        return (rows[-1].position if rows else after), [row.id for row in rows]

    async def since(self, mark: Mark) -> Changes:
        """What changed since a mark."""
        columns, sqlite = removed_chunks.c, self._database.is_sqlite
        number = chunks.c.position if sqlite else chunks.c.transaction_number
        newer = number > mark.written if sqlite else number >= mark.written
        # First the mark: what is committed while this reads is read again the next time.
        written = await self._written()
        async with self._database.reading() as tx:
            row = (await tx.execute(select(func.min(columns.number), func.max(columns.number)))).one()
            first, last = row[0] or 0, max(row[1] or 0, mark.removed)
            ids: list[str] = []
            if last > mark.removed:
                removed = columns.number.between(mark.removed + 1, last)
                ids = list(await tx.scalars(select(columns.id).where(removed)))
            added = await tx.scalars(select(chunks.c.id).where(newer).order_by(chunks.c.position))
            # SQLite gives the position of the newest chunk again once that chunk was deleted.
            complete = last == mark.removed or (first <= mark.removed + 1 and not sqlite)
            # The oldest transaction only ever gets later, except in another cluster.
            complete = complete and (sqlite or written >= mark.written)
            return Changes(Mark(written, last), tuple(added), tuple(ids), complete=complete)

    async def _written(self) -> int:
        """The mark of a reader that reads now."""
        if self._database.is_sqlite:
            return await self._database.scalar(select(func.max(chunks.c.position))) or 0
        state = await self._state()
        if state.restored:
            await self._renumber()
            state = await self._state()
        return int(state.oldest)

    async def _state(self) -> Row[Any]:
        [state] = await self._database.rows(_STATE)
        return state

    async def _renumber(self) -> None:
        total, rows = 0, _RENUMBERED
        while rows == _RENUMBERED:
            async with self._database.exclusive("numbers of chunks") as tx:
                rows = (await tx.execute(_RENUMBER)).rowcount
            total += rows
        if total:
            async with self._database.reading() as tx:  # otherwise the planner expects the numbers of before
                await tx.execute(text("ANALYZE chunks (transaction_number)"))
            log.info("chunks of another PostgreSQL cluster have numbers of this one now", chunks=total)
