"""What changed in the table of chunks, for indexes that follow it.

No writer waits for a reader, and no reader for a writer. In PostgreSQL a row has the number of the
transaction that wrote it. A reader notes the oldest transaction that still runs, and then reads the rows of
that one and of all later ones: whatever it cannot see yet, it reads the next time. So it reads some rows
twice, and misses none. SQLite has one writer at a time, so its rows appear in the order of their positions.
"""

from dataclasses import dataclass

from sqlalchemy import func, select, text

from services.store.chunk_tables import chunks, removed_chunks
from services.store.database import Database

_OLDEST = text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")


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
            chunks were deleted that the oldest deletions are forgotten.
    """

    mark: Mark
    added: tuple[str, ...]
    removed: tuple[str, ...]
    complete: bool = True


class ChunkChanges:
    """Reads what changed in the table of chunks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark(self) -> Mark:
        """A mark before everything that is not committed now."""
        async with self._database.reading() as tx:
            written = await tx.scalar(
                select(func.max(chunks.c.position)) if self._database.is_sqlite else _OLDEST
            )
            removed = await tx.scalar(select(func.max(removed_chunks.c.number)))
            return Mark(written or 0, removed or 0)

    async def ids(self, after: int, limit: int) -> tuple[int, list[str]]:
        """The ids of the next chunks after a position, and the position of the last of them."""
        query = select(chunks.c.position, chunks.c.id).where(chunks.c.position > after)
        async with self._database.reading() as tx:
            rows = (await tx.execute(query.order_by(chunks.c.position).limit(limit))).all()
        return (rows[-1].position if rows else after), [row.id for row in rows]

    async def since(self, mark: Mark) -> Changes:
        """What changed since a mark."""
        columns, sqlite = removed_chunks.c, self._database.is_sqlite
        number = chunks.c.position if sqlite else chunks.c.transaction_number
        newer = number > mark.written if sqlite else number >= mark.written
        async with self._database.reading() as tx:
            # First the mark: what is committed while this reads is read again the next time.
            written = await tx.scalar(select(func.max(chunks.c.position)) if sqlite else _OLDEST) or 0
            row = (await tx.execute(select(func.min(columns.number), func.max(columns.number)))).one()
            first, last = row[0] or 0, max(row[1] or 0, mark.removed)
            ids: list[str] = []
            if last > mark.removed:
                removed = columns.number.between(mark.removed + 1, last)
                ids = list(await tx.scalars(select(columns.id).where(removed)))
            added = await tx.scalars(select(chunks.c.id).where(newer).order_by(chunks.c.position))
            # SQLite gives the position of the newest chunk again once that chunk was deleted.
            complete = last == mark.removed or (first <= mark.removed + 1 and not sqlite)
            return Changes(Mark(written, last), tuple(added), tuple(ids), complete=complete)
