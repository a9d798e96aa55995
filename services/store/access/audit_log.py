"""The audit log: which key did what, where and when. It names no battle, so deletion leaves nothing here."""

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select

from nuggetstream.views.audit import AuditView
from services.store.access.tables import audit_log
from services.store.database import Database

KEPT = 100_000  # entries
_TRIMMED_EVERY = 1000


class AuditLog:
    """The entries of the log, of which the newest 100,000 are kept."""

    def __init__(self, database: Database, kept: int = KEPT) -> None:
        self._database = database
        self._kept = kept

    async def add(self, entry: AuditView) -> None:
        """Store an entry.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        values = entry.model_dump(exclude={"key"}) | {"key_id": entry.key}

        def work(tx: Connection) -> None:
            key = tx.execute(insert(audit_log).values(values)).inserted_primary_key
            number = 0 if key is None else int(key[0])
            if number % min(_TRIMMED_EVERY, self._kept) == 0:
                tx.execute(delete(audit_log).where(audit_log.c.number <= number - self._kept))

        await self._database.write(work)

    async def latest(
        self, limit: int, arenas: Collection[str] | None = None, key_id: str | None = None
    ) -> list[AuditView]:
        """The newest entries, newest first.

        Args:
            limit: Maximum number of entries.
            arenas: Only actions in these arenas; None for all actions.
            key_id: Only actions of this key.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        query = select(audit_log).order_by(audit_log.c.number.desc()).limit(limit)
        if arenas is not None:
            query = query.where(audit_log.c.arena.in_(sorted(arenas)))
        if key_id is not None:
            query = query.where(audit_log.c.key_id == key_id)

        def work(tx: Connection) -> list[AuditView]:
            return [AuditView.showing(row, key=row.key_id) for row in tx.execute(query)]

        return await self._database.read(work)
