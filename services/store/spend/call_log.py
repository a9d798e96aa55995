"""The log of model calls in the database: written in groups, read by battle, and deleted by its age."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, delete, select

from services.runtime.llm.call_log import ModelCall
from services.runtime.llm.prompt import Message
from services.runtime.masking import KNOWN
from services.runtime.polling import keep_at
from services.store.database import Database, inserting_new
from services.store.spend.call_prompts import Digest, pack_prompt, prompt_digest
from services.store.spend.call_tables import call_prompts, call_texts, calls
from services.store.spend.spend import picos_of

_SWEEP_S = 60.0  # seconds between two passes
_PER_STATEMENT = 2000  # rows
_LONGEST_DETAIL = 2000  # characters


class DatabaseCallLog:
    """A `CallStore` in the database.

    Known secrets are removed before anything is stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stored: set[Digest] = set()  # texts of the platform that are in the database

    async def add(self, new: Sequence[ModelCall]) -> None:
        """Store calls in one transaction.

        Raises:
            Unavailable: The database does not answer; nothing was stored.
        """
        rows: list[dict[str, Any]] = []
        prompts: dict[tuple[str, bytes], dict[str, Any]] = {}
        shared: dict[Digest, str] = {}
        for call in new:
            messages, texts = _without_secrets(call)
            digest = prompt_digest(messages)
            rows.append(_row(call, digest))
            if (call.battle_id, digest) not in prompts:
                packed = pack_prompt(messages, texts)
                shared |= packed.shared
                prompts[call.battle_id, digest] = {
                    "battle_id": call.battle_id, "digest": digest, "body": packed.body, "at": call.at,
                }  # fmt: skip
        unknown = [
            {"digest": digest, "body": text.encode("utf-8", "surrogatepass")}
            for digest, text in sorted(shared.items())
            if digest not in self._stored
        ]

        def insert(connection: Connection) -> None:
            dialect = connection.dialect.name
            if unknown:
                connection.execute(inserting_new(dialect, call_texts), unknown)
            ordered = [prompts[key] for key in sorted(prompts)]
            connection.execute(inserting_new(dialect, call_prompts), ordered)
            connection.execute(inserting_new(dialect, calls), rows)

        await self._database.write(insert)
        self._stored |= shared.keys()


class CallRetention:
    """Deletes calls that are older than an age.

    Args:
        database: The database.
        age: The age.
    """

    def __init__(self, database: Database, age: timedelta) -> None:
        self._database = database
        self._age = age

    async def sweep(self, now: datetime) -> int:
        """Delete what is too old, some thousand rows at a time.

        Returns:
            Number of deleted calls.

        Raises:
            Unavailable: The database does not answer.
        """
        deleted = 0
        for table in (calls, call_prompts):
            while count := await self._delete(table, now - self._age):
                deleted += count if table is calls else 0
                if count < _PER_STATEMENT:
                    break
        return deleted

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep every minute until `stop` is set."""
        warning = "old model calls are not deleted now"
        await keep_at(lambda: self.sweep(datetime.now(UTC)), _SWEEP_S, stop, warning)

    async def _delete(self, table: Table, before: datetime) -> int:
        """Delete the oldest rows from before a time, about as many as one statement may delete."""
        oldest = select(table.c.at).where(table.c.at < before).order_by(table.c.at)
        last = oldest.offset(_PER_STATEMENT - 1).limit(1)

        def work(connection: Connection) -> int:
            at = connection.scalar(last)
            old = table.c.at < before if at is None else table.c.at <= at
            return connection.execute(delete(table).where(old)).rowcount

        return await self._database.write(work)


def _without_secrets(call: ModelCall) -> tuple[list[Message], list[str]]:
    """The prompt without known secrets, and the texts that may stand in it."""
    plain = [message["content"] for message in call.messages]
    hidden = [KNOWN.hide_in_content(content) for content in plain]
    messages: list[Message] = [
        {"role": message["role"], "content": content}
        for message, content in zip(call.messages, hidden, strict=True)
    ]
    return messages, [] if call.texts is None else call.texts()


def _row(call: ModelCall, digest: bytes) -> dict[str, Any]:
    entry = call.entry
    tokens = None if entry is None else entry.tokens
    cost = None if entry is None else entry.cost
    return {
        "battle_id": call.battle_id,
        "stage": call.stage,
        "evaluator": call.evaluator,
        "task": call.task,
        "model": call.model[:200],
        "endpoint": None if call.endpoint is None else call.endpoint[:200],
        "reply_key": call.key,
        "prompt": digest,
        "repair": call.repair,
        "attempt": call.attempt,
        "outcome": call.outcome.value,
        "seconds": None if call.seconds is None else round(call.seconds, 3),
        "input_tokens": None if tokens is None else tokens.input,
        "output_tokens": None if tokens is None else tokens.output,
        "cached_input_tokens": None if tokens is None else tokens.cached_input,
        "picos": None if cost is None else picos_of(cost),
        "currency": None if cost is None else cost.currency,
        "source": None if entry is None else entry.source,
        "reply": None if call.reply is None else _storable(call.reply).encode("utf-8", "surrogatepass"),
        "detail": None if call.detail is None else _storable(KNOWN.redact(call.detail))[:_LONGEST_DETAIL],
        "at": call.at,
    }


def _storable(text: str) -> str:
    """A text without the characters that databases reject."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
