"""Content-addressed bytes and paid-for model replies."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import select

from nuggetstream.domain.identity import content_hash
from services.store.database import Database
from services.store.tables import blobs, replies


class Blobs:
    """Page texts and large message bodies, keyed by their SHA-256."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_blob(self, key: str, body: bytes) -> None:
        """Keep a body under its hash; a second put of the same hash changes nothing."""
        await self._database.insert_rows(blobs, [{"key": key, "body": body}])

    async def get_blob(self, key: str) -> bytes | None:
        """The body, or None when nothing has that hash."""
        async with self._database.transaction() as tx:
            body: bytes | None = await tx.scalar(select(blobs.c.body).where(blobs.c.key == key))
            return body

    async def put_text(self, text: str) -> str:
        """Keep a text; returns the hash that finds it again.

        NUL characters and lone surrogates, which no database takes as text, are replaced.
        """
        text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
        key = content_hash(text)
        await self.put_blob(key, text.encode("utf-8"))
        return key

    async def get_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts that are there, by hash."""
        async with self._database.transaction() as tx:
            rows = await tx.execute(select(blobs.c.key, blobs.c.body).where(blobs.c.key.in_(keys)))
            return {row.key: row.body.decode("utf-8") for row in rows}


class Replies:
    """The reply cache: a crash, a redelivery or a second run never pays twice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: str) -> str | None:
        """The stored reply to exactly this request, if there is one."""
        async with self._database.transaction() as tx:
            body: str | None = await tx.scalar(select(replies.c.body).where(replies.c.key == key))
            return body

    async def put(self, key: str, value: str) -> None:
        """Store a reply; the first one stays."""
        row = {"key": key, "body": value, "created_at": datetime.now(UTC)}
        await self._database.insert_rows(replies, [row])
