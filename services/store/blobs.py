"""Content-addressed bytes, and the cache of model replies."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

from sqlalchemy import select

from services.store.database import Database
from services.store.tables import blobs, replies


class Blobs:
    """Page texts and large message bodies, keyed by their SHA-256."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_blob(self, key: str, body: bytes) -> None:
        """Store a body under its hash. Storing the same hash again changes nothing."""
        await self._database.insert_rows(blobs, [{"key": key, "body": body}])

    async def get_blob(self, key: str) -> bytes | None:
        """The body with this hash, or None."""
        async with self._database.transaction() as tx:
            body: bytes | None = await tx.scalar(select(blobs.c.body).where(blobs.c.key == key))
            return body

    async def put_texts(self, texts: Sequence[str]) -> list[str]:
        """Store texts in one transaction and return their hashes, in the same order.

        NUL characters and lone surrogates, which databases reject in texts, are replaced.
        """
        bodies = [text.replace("\x00", "\ufffd").encode("utf-8", "replace") for text in texts]
        keys = [sha256(body).hexdigest() for body in bodies]
        rows = [{"key": key, "body": body} for key, body in zip(keys, bodies, strict=True)]
        await self._database.insert_rows(blobs, rows)
        return keys

    async def get_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """The stored texts among those with the given hashes, by hash."""
        async with self._database.transaction() as tx:
            rows = await tx.execute(select(blobs.c.key, blobs.c.body).where(blobs.c.key.in_(keys)))
            return {row.key: row.body.decode("utf-8") for row in rows}


class Replies:
    """The cache of model replies: after a crash, a redelivery or a re-run no reply is paid for twice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: str) -> str | None:
        """The stored reply with this key, or None."""
        async with self._database.transaction() as tx:
            body: str | None = await tx.scalar(select(replies.c.body).where(replies.c.key == key))
            return body

    async def put(self, key: str, value: str) -> None:
        """Store a reply unless the key already has one."""
        row = {"key": key, "body": value, "created_at": datetime.now(UTC)}
        await self._database.insert_rows(replies, [row])
