"""Messages of accepted battles, votes and edits that are not yet known to be published.

    what is accepted, and a row for each message that it needs    in one transaction
    the broker has stored the message                             the row is deleted

So nothing is accepted whose messages can get lost. They are published right after the commit; a relay
publishes those that remain, because the process ended or the broker was away. The table contains only what
waits.
"""

import zlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from operator import itemgetter
from typing import Any

import structlog
from sqlalchemy import JSON, Column, Connection, LargeBinary, String, Table, delete, func, select

from nuggetstream.domain.event import BattleEvent, battle_id_of
from services.runtime.bus import Outgoing
from services.store.battles.event_reading import read_submission
from services.store.battles.inputs import first_input
from services.store.content.shared import insert_content
from services.store.database import Store, inserting_new
from services.store.schema import metadata
from services.store.tables import blobs
from services.store.utc_datetime import UtcDateTime
from services.wire.codec import UndecodableMessage, inline, reference_to

log = structlog.get_logger(__name__)

outbox = Table(
    "outbox",
    metadata,
    Column("message_id", String(300), primary_key=True),
    Column("battle_id", String(200), nullable=False, index=True),  # to delete them with their battle
    Column("subject", String(200), nullable=False),
    Column("schema", String(80), nullable=False),
    Column("headers", JSON, nullable=False),
    Column("body", LargeBinary),  # NULL for the submission of a battle, which is stored with the battle
    Column("created_at", UtcDateTime(), nullable=False, server_default=func.now(), index=True),
)
_NOW = func.now(type_=UtcDateTime())
_WAITING = (
    select(outbox, _NOW.label("now"))
    .order_by(outbox.c.created_at, outbox.c.message_id)
    .with_for_update(skip_locked=True)  # another gateway publishes those
)


Publish = Callable[[Sequence[Outgoing]], Awaitable[Collection[str]]]
"""Publishes messages, and returns the ids of those that the broker has stored."""


class Outbox(Store):
    """The table of messages that are not yet known to be published."""

    async def forget(self, message_ids: Collection[str]) -> None:
        """Delete the rows of messages that were published.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        rows = delete(outbox).where(outbox.c.message_id.in_(sorted(message_ids)))
        await self._database.execute(rows)

    async def count(self) -> int:
        """Number of messages.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        return int(await self._database.scalar(select(func.count()).select_from(outbox)))

    async def relay(self, publish: Publish, older: timedelta, limit: int) -> int:
        """Publish the oldest messages, each by one process at a time, and delete those that were published.

        Args:
            publish: Publishes them.
            older: How long ago a message must have been stored by the clock of the database. Younger ones are
                published by the process that stored them.
            limit: Maximum number of messages.

        Returns:
            Number of messages that were published or dropped.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        async with self._database.transaction() as tx:
            oldest = await tx.execute(_WAITING.limit(limit))
            rows = [row for row in oldest if row.now - row.created_at >= older]
            if not rows:
                return 0
            messages = await tx.run_sync(_messages, rows)
            published = set(await publish(list(messages.values())))
            done = [
                row.message_id
                for row in rows
                if (message := messages.get(row.message_id)) is None or message.id in published
            ]
            await tx.execute(delete(outbox).where(outbox.c.message_id.in_(done)))
            return len(done)


def put(
    connection: Connection, events: Sequence[BattleEvent], with_battle: Collection[str] = ()
) -> list[Outgoing]:
    """Store messages in the transaction that accepts what they say; a large body is stored as a blob.

    Args:
        connection: Connection in that transaction.
        events: The events.
        with_battle: Keys of the submissions among them that are stored with their battles as they are; a
            small one needs no second body.

    Returns:
        The messages in order, to be published after the commit.
    """
    rows: list[dict[str, Any]] = []
    bodies: list[dict[str, Any]] = []
    messages: list[Outgoing] = []
    for event in events:
        message, battle_id = inline(event), battle_id_of(event)
        row = _row(message, battle_id) | ({"body": None} if event.key in with_battle else {})
        if (reference := reference_to(message)) is not None:
            bodies.append({"key": reference.body.decode(), "body": message.body, "battle_id": battle_id})
            row, message = _row(reference, battle_id), reference
        rows.append(row)
        messages.append(message)
    if bodies:
        insert_content(connection, blobs, bodies)
    if rows:
        rows.sort(key=itemgetter("message_id"))
        connection.execute(inserting_new(connection.dialect.name, outbox), rows)
    return messages


def _row(message: Outgoing, battle_id: str) -> dict[str, Any]:
    return {
        "message_id": message.id,
        "battle_id": battle_id,
        "subject": message.subject,
        "schema": message.schema,
        "headers": dict(message.headers),
        "body": message.body,
    }


def _messages(connection: Connection, rows: Sequence[Any]) -> dict[str, Outgoing]:
    """The messages of rows by the ids of these.

    A submission whose battle was deleted, or cannot be read any more, has none, and one that lacks the text
    of a source is a failure.
    """
    messages = {}
    for row in rows:
        message: Outgoing | None = None
        if row.body is not None:
            message = Outgoing(row.subject, row.message_id, row.schema, row.body, row.headers)
        else:
            try:
                submission = read_submission(connection, row.battle_id)
                message = None if submission is None else inline(first_input(submission))
            except (UndecodableMessage, zlib.error):  # the reconciler ends such a battle with a reason
                log.exception("a stored battle cannot be read", battle_id=row.battle_id)
        if message is not None:
            messages[row.message_id] = message
    return messages
