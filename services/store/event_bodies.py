"""The bodies of events as they are stored: without what the database has elsewhere.

A battle is part of most of its events, each stage repeats what the one before found, and evidence quotes
pages. So an event is compressed with its battle, and the event that it continues, as dictionary, and texts of
chunks and sources are references. Readers get the bytes that were recorded.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from services.store.chunk_tables import chunks
from services.store.compressed import compress, decompress, dictionary_of, pack, packed
from services.store.tables import events
from services.store.text_references import (
    RETRIEVED,
    SUBMITTED,
    Separated,
    chunks_of_evidence,
    separate_evidence,
    separate_sources,
)

# The earlier event of the same battle that an event repeats most of, by name.
PREDECESSORS = {
    "indexed": "scraped",
    "retrieved": "indexed",
    "nuggetized": "scraped",
    "assigned": "nuggetized",
}
_IDS_PER_QUERY = 500
_EARLIER = (
    select(events.c.battle_id, events.c.sequence, events.c.name, events.c.body)
    .where(events.c.battle_id.in_(bindparam("ids", expanding=True)))
    .where(events.c.name.in_(sorted(set(PREDECESSORS.values()))))
    .order_by(events.c.sequence)
)


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event that is about to be stored.

    Attributes:
        battle_id: Id of its battle.
        sequence: Its number within the battle.
        name: Short name of the event.
        schema: Schema of `body`.
        body: The encoded event.
    """

    battle_id: str
    sequence: int
    name: str
    schema: str
    body: bytes


class Bodies:
    """The bodies of the events of one battle, with references in place of texts.

    Args:
        battle: The stored body of the battle.
        stored: The stored bodies of events by number.
    """

    def __init__(self, battle: bytes, stored: Mapping[int, bytes]) -> None:
        self.battle = value_of_battle(battle)
        self._stored = dict(stored)
        self._values: dict[int, bytes] = {}

    def add(self, sequence: int, value: bytes) -> None:
        """Add the body of one more event, with its references."""
        self._values[sequence] = value

    def value(self, sequence: int) -> bytes:
        """The body of an event, with references.

        Raises:
            zlib.error: The stored bytes were changed.
            KeyError: There is no such event.
        """
        if sequence not in self._values:
            self._values[sequence] = self._unpacked(self._stored[sequence])
        return self._values[sequence]

    def dictionary(self, predecessor: int) -> bytes:
        """The dictionary of an event that continues the one with this number; 0 for none."""
        return dictionary_of(self.battle, self.value(predecessor) if predecessor else b"")

    def _unpacked(self, stored: bytes) -> bytes:
        part = packed(stored)
        return decompress(stored) if part is None else part.value(self.dictionary(part.predecessor))


def value_of_battle(stored: bytes) -> bytes:
    """The encoded submission of a battle, with references where it has them."""
    part = packed(stored)
    return decompress(stored) if part is None else part.value()


def bodies_to_store(
    connection: Connection, new: Sequence[NumberedEvent], battles: Mapping[str, bytes]
) -> list[bytes]:
    """The stored forms of events.

    Args:
        connection: Connection in a transaction that has locked the battles.
        new: The events, in order.
        battles: The stored bodies of their battles, by id.
    """
    ids = sorted({event.battle_id for event in new if event.name in PREDECESSORS})
    newest: dict[tuple[str, str], int] = {}  # number of the newest event of a battle and name
    earlier: dict[str, dict[int, bytes]] = {battle_id: {} for battle_id in battles}
    for row in connection.execute(_EARLIER, {"ids": ids}) if ids else ():
        newest[row.battle_id, row.name] = row.sequence
        earlier[row.battle_id][row.sequence] = row.body
    bodies = {battle_id: Bodies(body, earlier[battle_id]) for battle_id, body in battles.items()}
    hashes = _hashes_of_chunks(connection, new)
    stored = []
    for event in new:
        own = bodies[event.battle_id]
        separated = _separated(event, own.battle, hashes)
        value = event.body if separated is None else separated.body
        own.add(event.sequence, value)
        predecessor = newest.get((event.battle_id, PREDECESSORS.get(event.name, "")), 0)
        newest[event.battle_id, event.name] = event.sequence
        checksum = None if separated is None else zlib.crc32(event.body)
        short = pack(value, own.dictionary(predecessor), predecessor, checksum).stored()
        stored.append(short if len(short) < len(event.body) else compress(event.body))
    return stored


def _separated(
    event: NumberedEvent, battle: bytes, hashes: Mapping[str, tuple[str, str]]
) -> Separated | None:
    """An event without the texts that are stored elsewhere; None where there are none."""
    if event.schema == RETRIEVED:
        return separate_evidence(event.body, hashes)
    if event.schema != SUBMITTED:
        return None
    separated = separate_sources(event.body)
    if separated is None or not all(key.encode() in battle for key in separated.texts):
        return None  # the battle was stored with its texts
    return separated


def _hashes_of_chunks(connection: Connection, new: Iterable[NumberedEvent]) -> dict[str, tuple[str, str]]:
    """The hashes of page and text of the stored chunks that events have as evidence, by id."""
    ids = sorted({i for event in new if event.schema == RETRIEVED for i in chunks_of_evidence(event.body)})
    hashes: dict[str, tuple[str, str]] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        rows: Any = connection.execute(_CHUNKS, {"ids": ids[start : start + _IDS_PER_QUERY]})
        hashes.update({row.id: (row.content_hash, row.text_hash) for row in rows})
    return hashes


_CHUNKS = select(chunks.c.id, chunks.c.content_hash, chunks.c.text_hash).where(
    chunks.c.id.in_(bindparam("ids", expanding=True))
)
