"""Content-addressed bytes, and the cache of model replies."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, bindparam, select

from services.store.content.chunk_texts import texts_of_blobs
from services.store.content.shared import insert_content, rows_to_use
from services.store.database import Store
from services.store.sqlite_threads import Each
from services.store.tables import blobs, replies

# Built once: for a short query, building takes longer than executing.
_BODY = select(blobs.c.body).where(blobs.c.key == bindparam("blob"))
_OWN = (
    select(blobs.c.key)
    .where(blobs.c.key.in_(bindparam("blobs", expanding=True)))
    .where(blobs.c.battle_id == bindparam("battle"))
)
_REPLY = select(replies).where(replies.c.key == bindparam("reply"))


class Blobs(Store):
    """Page texts and large message bodies, keyed by their SHA-256."""

    async def put_blob(self, key: str, body: bytes, battle_id: str | None) -> None:
        """Store a body under its hash. Storing the same hash again changes nothing.

        Args:
            key: Hash of the body.
            body: The body.
            battle_id: The battle that it is deleted with; None where it belongs to none.
        """
        row = {"key": key, "body": body, "battle_id": battle_id}
        await self._database.write(lambda connection: insert_content(connection, blobs, [row]))

    async def get_blob(self, key: str) -> bytes | None:
        """The body with this hash, or None."""
        body: bytes | None = await self._database.scalar(_BODY, {"blob": key})
        return body

    async def put_texts(self, texts: Sequence[str], battle_id: str) -> list[str]:
        """Store texts that a battle uses in one transaction and return their hashes, in the same order.

        NUL characters and lone surrogates, which databases reject in texts, are replaced.
        """
        bodies = [text.replace("\x00", "\ufffd").encode("utf-8", "replace") for text in texts]
        keys = [sha256(body).hexdigest() for body in bodies]
        rows = [
            {"key": key, "body": body, "battle_id": battle_id} for key, body in zip(keys, bodies, strict=True)
        ]

        def put(connection: Connection) -> None:
            own = {"blobs": keys, "battle": battle_id}
            stored = set(connection.scalars(_OWN, own))  # such as texts that were sent with the battle
            insert_content(connection, blobs, [row for row in rows if row["key"] not in stored])

        if rows:
            await self._database.write(put)
        return keys

    async def get_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """The stored texts among those with the given hashes, by hash."""
        return await self._database.read(lambda connection: texts_of_blobs(connection, keys))


class Replies(Store):
    """The cache of model replies: after a crash, a redelivery or a re-run no reply is paid for twice."""

    async def get(self, key: str, battle_id: str) -> str | None:
        """The stored reply with this key, which the battle uses from now on, or None."""
        for row in await rows_to_use(self._database, replies, _REPLY, {"reply": key}, battle_id):
            return str(row.body)
        return None

    async def put(self, key: str, value: str, battle_id: str) -> None:
        """Store a reply that a battle uses, unless the key already has one."""
        row = {"key": key, "body": value, "created_at": datetime.now(UTC), "battle_id": battle_id}
        await self._database.write(Each(_put_replies, row))


def _put_replies(connection: Connection, rows: Sequence[dict[str, Any]]) -> Sequence[None]:
    insert_content(connection, replies, rows)
    return [None] * len(rows)
