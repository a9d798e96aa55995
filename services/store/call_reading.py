"""The model calls of a battle with their prompts and replies."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, select

from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.views.calls import CallCost, CallView, PromptMessage
from services.runtime.llm.prompt import Message
from services.runtime.masking import KNOWN
from services.store.call_prompts import Digest, digest_of, digests_in, unpack_prompt
from services.store.call_tables import call_prompts, call_texts, calls
from services.store.event_reading import read_events, read_submission
from services.store.spend import amount_of
from services.store.tables import replies
from services.wire.codec import decode, schema_of
from services.wire.texts import texts_of

_KEYS_PER_QUERY = 500
_FREE = ("cached", "shared")


def read_calls(connection: Connection, battle_id: str) -> list[CallView]:
    """The logged calls of a battle, in the order in which they began."""
    found = select(calls).where(calls.c.battle_id == battle_id).order_by(calls.c.at, calls.c.id)
    rows = connection.execute(found).all()
    stored = connection.execute(
        select(call_prompts.c.digest, call_prompts.c.body).where(call_prompts.c.battle_id == battle_id)
    ).all()
    bodies = {row.digest: row.body for row in stored}
    texts = _texts(connection, battle_id, bodies.values()) if bodies else {}
    prompts = {digest: unpack_prompt(body, texts.get) for digest, body in bodies.items()}
    cached = _replies(connection, {row.reply_key for row in rows})
    return [_view(row, prompts.get(row.prompt), cached.get(row.reply_key)) for row in rows]


def _texts(connection: Connection, battle_id: str, bodies: Collection[bytes]) -> dict[Digest, str]:
    """The texts that prompts refer to: those of the platform, and those recorded with the battle."""
    wanted = sorted({digest for body in bodies for digest in digests_in(body)})
    texts: dict[Digest, str] = {}
    for start in range(0, len(wanted), _KEYS_PER_QUERY):
        keys = wanted[start : start + _KEYS_PER_QUERY]
        for row in connection.execute(select(call_texts).where(call_texts.c.digest.in_(keys))):
            texts[row.digest] = row.body.decode("utf-8", "surrogatepass")
    recorded = [decode(event.schema, event.body) for event in read_events(connection, battle_id)]
    submission = read_submission(connection, battle_id)
    if submission is not None:
        recorded.append(decode(schema_of(BattleSubmitted), submission.body))
    return texts | {digest_of(text): text for event in recorded for text in texts_of(event)}


def _replies(connection: Connection, keys: Collection[str]) -> dict[str, str]:
    """The replies in the cache, by key."""
    wanted, cached = sorted(keys), dict[str, str]()
    for start in range(0, len(wanted), _KEYS_PER_QUERY):
        in_batch = replies.c.key.in_(wanted[start : start + _KEYS_PER_QUERY])
        rows = connection.execute(select(replies.c.key, replies.c.body).where(in_batch))
        cached |= {row.key: str(json.loads(row.body)["reply"]) for row in rows}
    return cached


def _view(row: Any, prompt: Sequence[Message] | None, cached: str | None) -> CallView:
    reply = row.reply.decode("utf-8", "surrogatepass") if row.reply is not None else None
    if reply is None and row.outcome in ("answered", *_FREE):
        reply = cached
    return CallView.showing(
        row,
        estimated=row.source == "estimate",
        cost=None if row.picos is None else CallCost(amount=amount_of(row.picos), currency=row.currency),
        prompt=prompt and [PromptMessage(role=m["role"], content=KNOWN.redact(m["content"])) for m in prompt],
        reply=None if reply is None else KNOWN.redact(reply),
    )
