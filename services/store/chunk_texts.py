"""The texts of chunks."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from services.store.tables import chunks

_IDS_PER_QUERY = 500
_CHUNKS = select(chunks.c.id, chunks.c.text).where(chunks.c.id.in_(bindparam("ids", expanding=True)))


def texts_of_chunks(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """The texts of the stored chunks among those with the given ids, by id."""
    texts: dict[str, str] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        rows: Any = connection.execute(_CHUNKS, {"ids": ids[start : start + _IDS_PER_QUERY]})
        texts.update({row.id: row.text for row in rows})
    return texts
