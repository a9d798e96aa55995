"""Chunks, their vectors, and the pages of each battle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, func, select

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash
from services.store.chunk_texts import stored_span, texts_of_rows
from services.store.database import Database
from services.store.tables import chunks, removed_chunks, sources, vectors

_KEYS_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Consecutive sentences cut from a page.

    Attributes:
        id: Id derived from the page's content, the position in the page and the splitter.
        content_hash: Hash of the whole page's text.
        ordinal: Number of the chunk within its page, from 0.
        text: Its sentences.
    """

    id: str
    content_hash: str
    ordinal: int
    text: str

    @property
    def text_hash(self) -> str:
        """Key of its vector."""
        return content_hash(self.text)


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A page as one battle cites it.

    Attributes:
        url: Address in the battle.
        title: Title of the page; None when it has none.
        content_hash: Hash of the page's text.
        fetched_at: When the page was fetched; None for supplied text.
        cited_by: The sides that have the page among their sources.
    """

    url: str
    title: str | None
    content_hash: str
    fetched_at: datetime | None
    cited_by: tuple[Side, ...]


# Built once: for a short query, building takes longer than executing.
_OF_PAGES = (
    select(chunks)
    .where(chunks.c.content_hash.in_(bindparam("pages", expanding=True)))
    .order_by(chunks.c.position)
)
_OF_BATTLE = select(sources).where(sources.c.battle_id == bindparam("battle")).order_by(sources.c.url)


@dataclass(frozen=True, slots=True)
class Removed:
    """Chunks that were deleted.

    Attributes:
        number: Number of the last of these deletions.
        ids: Ids of the chunks.
        complete: Whether it suffices to remove these; otherwise all chunks must be read again, for instance
            because so many were deleted that the oldest are forgotten.
    """

    number: int
    ids: tuple[str, ...]
    complete: bool = True


class Chunks:
    """The chunk table and its vectors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, new: Sequence[StoredChunk], pages: Mapping[str, str] | None = None) -> None:
        """Store chunks; existing ones stay unchanged.

        Args:
            new: The chunks, those of a page in its order.
            pages: Texts of stored pages by content hash; chunks of these are stored as spans.
        """
        rows = _rows_of(new, pages or {})
        if not self._database.is_sqlite:  # so that two writers of the same pages cannot deadlock
            rows.sort(key=itemgetter("content_hash", "ordinal", "id"))
        await self._database.insert_rows(chunks, rows, numbered=True)

    async def get(self, ids: Sequence[str]) -> dict[str, StoredChunk]:
        """The stored chunks among those with the given ids, by id."""
        chunks_by_id = {}
        for batch in _batches(ids):
            found = await self._read(select(chunks).where(chunks.c.id.in_(batch)))
            chunks_by_id.update({chunk.id: chunk for chunk in found[1]})
        return chunks_by_id

    async def after(self, position: int, limit: int) -> tuple[int, list[StoredChunk]]:
        """The position of the last of the next chunks in storage order, and these chunks."""
        newer = chunks.c.position > position
        async with self._database.reading() as tx:
            if (await tx.scalar(select(chunks.c.position).where(newer).limit(1))) is None:
                return position, []
        newer &= chunks.c.position <= await self._database.last_number(chunks)
        query = select(chunks).where(newer).order_by(chunks.c.position).limit(limit)
        last, new = await self._read(query)
        return (position if last is None else last), new

    async def removed_after(self, number: int) -> "Removed":
        """The chunks that were deleted after the deletion with this number."""
        columns = removed_chunks.c
        async with self._database.reading() as tx:
            row = (await tx.execute(select(func.min(columns.number), func.max(columns.number)))).one()
            first, last = row[0] or 0, row[1] or 0
            if last <= number:
                return Removed(number, ())
            ids = await tx.scalars(select(columns.id).where(columns.number > number, columns.number <= last))
            # SQLite gives the position of the newest chunk again once that chunk was deleted.
            complete = first <= number + 1 and not self._database.is_sqlite
            return Removed(last, tuple(ids), complete=complete)

    async def of_pages(self, content_hashes: Sequence[str]) -> list[StoredChunk]:
        """All chunks of the given pages, in storage order."""
        return (await self._read(_OF_PAGES, {"pages": list(content_hashes)}))[1]

    async def _read(
        self, query: Select[Any], values: Mapping[str, Any] | None = None
    ) -> tuple[int | None, list[StoredChunk]]:
        """The position of the last row, and the chunks of those rows whose texts are stored."""

        def read(connection: Connection) -> tuple[int | None, list[StoredChunk]]:
            rows = connection.execute(query, values or {}).all()
            texts = texts_of_rows(connection, rows)
            return (rows[-1].position if rows else None), [
                StoredChunk(row.id, row.content_hash, row.ordinal, texts[row.id])
                for row in rows
                if row.id in texts
            ]

        return await self._database.read(read)

    async def add_vectors(self, model: str, rows: dict[str, NDArray[np.float32]]) -> None:
        """Store vectors by text hash, so that each model embeds a text only once."""
        await self._database.insert_rows(
            vectors,
            [
                {"text_hash": key, "model": model, "vector": np.asarray(v, "<f4").tobytes()}
                for key, v in rows.items()
            ],
        )

    async def get_vectors(self, model: str, text_hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors among those of the given texts, by text hash; each of shape (dimensions,)."""
        vectors_by_hash = {}
        columns = select(vectors.c.text_hash, vectors.c.vector).where(vectors.c.model == model)
        async with self._database.transaction() as tx:
            for batch in _batches(text_hashes):
                rows = await tx.execute(columns.where(vectors.c.text_hash.in_(batch)))
                vectors_by_hash.update({row.text_hash: np.frombuffer(row.vector, "<f4") for row in rows})
        return vectors_by_hash


class Sources:
    """The usable pages of each battle, and the sides that cite them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, battle_id: str, new: Sequence[StoredSource]) -> None:
        """Store the usable pages of a battle."""
        await self._database.insert_rows(
            sources,
            [
                {"battle_id": battle_id, "url_hash": content_hash(s.url), "url": s.url, "title": s.title}
                | {"content_hash": s.content_hash, "fetched_at": s.fetched_at}
                | {"cited_by_a": Side.A in s.cited_by, "cited_by_b": Side.B in s.cited_by}
                for s in new
            ],
        )

    async def of_battle(self, battle_id: str, side: Side | None = None) -> list[StoredSource]:
        """The usable pages of a battle, or only those that one side cites."""
        query, values = _OF_BATTLE, {"battle": battle_id}
        if side is not None:
            query = query.where(sources.c.cited_by_a if side is Side.A else sources.c.cited_by_b)
        return [_source(row) for row in await self._database.read(lambda tx: tx.execute(query, values).all())]

    async def of_pages(self, content_hashes: Sequence[str]) -> dict[str, StoredSource]:
        """One source for each of the given pages that has any, by content hash."""
        source_by_page: dict[str, StoredSource] = {}
        if not content_hashes:
            return source_by_page
        async with self._database.transaction() as tx:
            for batch in _batches(content_hashes):
                query = select(sources).where(sources.c.content_hash.in_(batch)).order_by(sources.c.url)
                for row in await tx.execute(query):
                    source_by_page.setdefault(row.content_hash, _source(row))
        return source_by_page


def _batches(keys: Sequence[str]) -> list[Sequence[str]]:
    return [keys[start : start + _KEYS_PER_QUERY] for start in range(0, len(keys), _KEYS_PER_QUERY)]


def _rows_of(new: Sequence[StoredChunk], pages: Mapping[str, str]) -> list[dict[str, Any]]:
    rows = []
    starts: dict[str, int] = {}  # of the chunk before, by page
    for chunk in new:
        row: dict[str, Any] = {"id": chunk.id, "content_hash": chunk.content_hash, "ordinal": chunk.ordinal}
        row |= {"text": chunk.text, "span": None, "text_hash": chunk.text_hash}
        page = pages.get(chunk.content_hash)
        span = None if page is None else stored_span(chunk.text, page, starts.get(chunk.content_hash, 0))
        if span is not None:
            starts[chunk.content_hash] = span[0].start
            row |= {"text": None, "span": span[1]}
        rows.append(row)
    return rows


def _source(row: object) -> StoredSource:
    cited = [(Side.A, row.cited_by_a), (Side.B, row.cited_by_b)]  # type: ignore[attr-defined]
    sides = tuple(side for side, cites in cited if cites)
    return StoredSource(row.url, row.title, row.content_hash, row.fetched_at, sides)  # type: ignore[attr-defined]
