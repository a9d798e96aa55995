"""The model calls of a battle with their prompts and replies."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, select

from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.views.calls import CallCost, CallView, PromptMessage
from services.runtime.llm.prompt import Message
from services.runtime.masking import KNOWN
from services.store.batches import among, rows_of_keys
from services.store.battles.event_reading import read_events, read_submission
from services.store.spend.call_prompts import Digest, digest_of, digests_in, unpack_prompt
from services.store.spend.call_tables import call_prompts, call_texts, calls
from services.store.spend.spend import amount_of
from services.store.tables import replies
from services.wire.codec import decode, schema_of
from services.wire.texts import texts_of

_TEXTS = select(call_texts).where(among(call_texts.c.digest))
_REPLIES = select(replies.c.key, replies.c.body).where(among(replies.c.key))
_FREE = ("cached", "shared")


def read_calls(connection: Connection, battle_id: str) -> list[CallView]:
    """The logged calls of a battle, in the order in which they began."""
    of_battle = select(calls).where(calls.c.battle_id == battle_id).order_by(calls.c.at, calls.c.id)
    rows = connection.execute(of_battle).all()
    stored = connection.execute(
        select(call_prompts.c.digest, call_prompts.c.body).where(call_prompts.c.battle_id == battle_id)
    ).all()
    bodies = {row.digest: row.body for row in stored}
    texts = _texts(connection, battle_id, bodies.values()) if bodies else {}
    prompts = {digest: unpack_prompt(body, texts.get) for digest, body in bodies.items()}
    stored_replies = rows_of_keys(connection, _REPLIES, (row.reply_key for row in rows))
    cached = {row.key: str(json.loads(row.body)["reply"]) for row in stored_replies}
    return [_view(row, prompts.get(row.prompt), cached.get(row.reply_key)) for row in rows]


def _texts(connection: Connection, battle_id: str, bodies: Collection[bytes]) -> dict[Digest, str]:
    """The texts that prompts refer to: those of the platform, and those recorded with the battle."""
    wanted = (digest for body in bodies for digest in digests_in(body))
    shared = rows_of_keys(connection, _TEXTS, wanted)
    texts = {row.digest: row.body.decode("utf-8", "surrogatepass") for row in shared}
    recorded = [decode(event.schema, event.body) for event in read_events(connection, battle_id)]
    submission = read_submission(connection, battle_id)
    if submission is not None:
        recorded.append(decode(schema_of(BattleSubmitted), submission.body))
    return texts | {digest_of(text): text for event in recorded for text in texts_of(event)}


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
