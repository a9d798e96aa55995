"""Reading the events of a battle as the bytes that were recorded."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from services.store.battles.event_bodies import value_of_battle, value_of_event
from services.store.compressed import packed
from services.store.content.chunk_texts import texts_of_blobs, texts_of_chunks
from services.store.content.text_references import RETRIEVED, SUBMITTED, Filled, fill, references
from services.store.tables import battles, events

_BATTLE = select(battles.c.body).where(battles.c.id == bindparam("battle"))
_EVENTS = (
    select(events)
    .where(events.c.battle_id == bindparam("battle"), events.c.sequence > bindparam("after"))
    .order_by(events.c.sequence)
)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One event of a battle as stored.

    Attributes:
        sequence: Its number within the battle, from 1.
        name: Short name of the event.
        schema: Schema of `body`.
        body: The encoded event.
        recorded_at: When it was recorded.
        complete: Whether `body` is what was recorded; False where a text in it is no longer stored, and a
            sentence that says so stands in its place. No stage can continue from such an event.
    """

    sequence: int
    name: str
    schema: str
    body: bytes
    recorded_at: datetime
    complete: bool = True


def read_events(
    connection: Connection,
    battle_id: str,
    after: int = 0,
    names: Collection[str] | None = None,
    *,
    until: int | None = None,
    texts: bool = True,
    body: bytes | None = None,
) -> list[RecordedEvent]:
    """The events of a battle in order.

    Args:
        connection: A connection.
        battle_id: Id of the battle.
        after: Only events with a larger number.
        names: Only events with these short names.
        until: Only events up to this number; None for all.
        texts: Whether to read the texts of sources and evidence; else references stand in their place.
        body: The stored body of the battle, where it was read before.

    Raises:
        zlib.error: Stored bytes were changed.
    """
    battle = connection.scalar(_BATTLE, {"battle": battle_id}) if body is None else body
    if battle is None:  # deleted meanwhile, with its events
        return []
    rows = connection.execute(_EVENTS, {"battle": battle_id, "after": after}).all()
    last = math.inf if until is None else until
    wanted = [row for row in rows if row.sequence <= last and (names is None or row.name in names)]
    submission = value_of_battle(battle)
    values = {row.sequence: value_of_event(row.body, submission) for row in wanted}
    separated = {row.sequence for row in wanted if _checksum(row.body) is not None}
    named = [(row.schema, values[row.sequence]) for row in wanted if row.sequence in separated]
    shared_texts = _texts(connection, named) if texts else {}
    recorded = []
    for row in wanted:
        if texts:
            filled = _filled(row.schema, values[row.sequence], row.body, shared_texts)
        else:
            filled = Filled(values[row.sequence], complete=row.sequence not in separated)
        recorded.append(
            RecordedEvent(
                sequence=row.sequence,
                name=row.name,
                schema=row.schema,
                body=filled.body,
                recorded_at=row.recorded_at,
                complete=filled.complete,
            )
        )
    return recorded


def read_submission(connection: Connection, battle_id: str) -> Filled | None:
    """The encoded event that submitted a battle; None when the battle is unknown."""
    stored = connection.scalar(_BATTLE, {"battle": battle_id})
    if stored is None:
        return None
    value = value_of_battle(stored)
    texts = _texts(connection, [(SUBMITTED, value)] if _checksum(stored) else [])
    return _filled(SUBMITTED, value, stored, texts)


def _checksum(stored: bytes) -> int | None:
    """The checksum in a stored form; None where the form has no references."""
    part = packed(stored)
    return None if part is None else part.checksum


def _filled(schema: str, value: bytes, stored: bytes, texts: Mapping[str, str]) -> Filled:
    checksum = _checksum(stored)
    return Filled(value, complete=True) if checksum is None else fill(schema, value, texts, checksum)


def _texts(connection: Connection, values: Collection[tuple[str, bytes]]) -> dict[str, str]:
    """The texts that references in encoded events name, by key, as far as they are stored."""
    keys: dict[str, set[str]] = {SUBMITTED: set(), RETRIEVED: set()}
    for schema, value in values:
        keys[schema].update(references(schema, value))
    return texts_of_chunks(connection, keys[RETRIEVED]) | texts_of_blobs(connection, keys[SUBMITTED])
