"""Chunks, their vectors, and the pages of each battle."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, or_, select

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash
from services.store.batches import among, rows_of_keys
from services.store.content.chunk_tables import chunks, vectors
from services.store.content.chunk_texts import Span, stored_span, texts_of_rows
from services.store.database import Store, replacing
from services.store.sqlite_threads import Each
from services.store.tables import sources

_SAMPLES = 100  # texts of which the shortest is chosen

DEFAULT_ARENA = "default"
"""Arena of battles that name none."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known of the page that a chunk was cut from.

    Attributes:
        language: BCP 47 tag of the page, declared or detected; None when unknown.
        fetched_at: When the page was first fetched; None for supplied text.
        language_confidence: The detector's probability of the language, 0 to 1; None where it is declared or
            unknown.
        arena: Arena whose battles cite the page. Where those of several do, each has chunks of its own.
    """

    language: str | None = None
    fetched_at: datetime | None = None
    language_confidence: float | None = None
    arena: str = DEFAULT_ARENA


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Consecutive sentences cut from a page.

    Attributes:
        id: Id derived from the page's content, the arena, the position in the page and the splitter.
        content_hash: Hash of the whole page's text.
        ordinal: Number of the chunk within its page, from 0.
        text: Its sentences.
        origin: Language and age of the page.
        span: Where it is in the page, as it was cut; None when unknown, and in a chunk that was read.
    """

    id: str
    content_hash: str
    ordinal: int
    text: str
    origin: Origin = Origin()
    span: Span | None = field(default=None, compare=False)

    @property
    def text_hash(self) -> str:
        """Key of its vector."""
        return content_hash(self.text)

    @property
    def passage(self) -> tuple[str, int, str]:
        """What the chunks of several arenas have in common."""
        return self.content_hash, self.ordinal, self.text


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A page as one battle cites it.

    Attributes:
        url: Address in the battle.
        title: Title of the page; None when it has none.
        content_hash: Hash of the page's text.
        fetched_at: When the page was fetched; None for supplied text.
        cited_by: The sides that have the page among their sources.
        arena: Arena of the battle.
    """

    url: str
    title: str | None
    content_hash: str
    fetched_at: datetime | None
    cited_by: tuple[Side, ...]
    arena: str = DEFAULT_ARENA


_CHUNK = ("id", "content_hash", "ordinal")  # columns that are fields
_SOURCE = ("url", "title", "content_hash", "fetched_at", "arena")
# Built once: for a short query, building takes longer than executing.
_WITH_IDS = select(chunks).where(among(chunks.c.id))
_OF_PAGES = select(chunks).where(among(chunks.c.content_hash))
_VECTORS = select(vectors.c.text_hash, vectors.c.vector, vectors.c.read_share).where(
    vectors.c.model == bindparam("of_model"), among(vectors.c.text_hash)
)
_PARTLY_READ = _VECTORS.where(vectors.c.read_share.is_not(None))
_OF_BATTLE = select(sources).where(sources.c.battle_id == bindparam("battle")).order_by(sources.c.url)


class Chunks(Store):
    """The chunk table and its vectors."""

    async def add(self, new: Sequence[StoredChunk], pages: Mapping[str, str] | None = None) -> None:
        """Store chunks; existing ones stay unchanged.

        Args:
            new: The chunks; those with spans are stored as spans of their pages.
            pages: Texts of stored pages by content hash.
        """
        texts = pages or {}
        rows = await asyncio.to_thread(lambda: [_row(chunk, texts.get(chunk.content_hash)) for chunk in new])
        if not self._database.is_sqlite:  # so that two writers of the same pages cannot deadlock
            rows.sort(key=itemgetter("content_hash", "ordinal", "id"))
        await self._database.insert_rows(chunks, rows)

    async def count(self, most: int) -> int:
        """The number of stored chunks, counted up to a number."""
        some = select(chunks.c.position).limit(most).subquery()
        return int(await self._database.scalar(select(func.count()).select_from(some)))

    async def get(self, ids: Sequence[str]) -> dict[str, StoredChunk]:
        """The stored chunks among those with the given ids, by id."""
        return {chunk.id: chunk for chunk in await self._read(_WITH_IDS, ids)}

    async def of_pages(self, content_hashes: Sequence[str], arena: str | None = None) -> list[StoredChunk]:
        """The chunks of the given pages, in storage order: those of an arena, or else each passage once."""
        stored = await self._read(_OF_PAGES, content_hashes)
        if arena is not None:
            return [chunk for chunk in stored if chunk.origin.arena == arena]
        by_passage: dict[tuple[str, int, str], StoredChunk] = {}
        for chunk in stored:
            by_passage.setdefault(chunk.passage, chunk)
        return list(by_passage.values())

    async def _read(self, query: Select[Any], keys: Sequence[str]) -> list[StoredChunk]:
        """The chunks of those rows whose texts are stored, in the order in which they were stored."""

        def read(connection: Connection) -> list[StoredChunk]:
            rows = sorted(rows_of_keys(connection, query, keys), key=attrgetter("position"))
            texts = texts_of_rows(connection, rows)
            return [_chunk(row, texts[row.id]) for row in rows if row.id in texts]

        return await self._database.read(read)

    async def add_vectors(
        self,
        model: str,
        rows: Mapping[str, NDArray[np.float32]],
        shares: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Store vectors by text hash, so that each model embeds a text only once.

        Args:
            model: Name of the model.
            rows: The vectors, each of shape (dimensions,).
            shares: The share of a text that the model read, where it is less than all.
        """
        await self._database.insert_rows(
            vectors,
            [
                {"text_hash": key, "model": model, "vector": np.asarray(v, "<f4").tobytes()}
                | {"read_share": shares.get(key)}
                for key, v in rows.items()
            ],
        )

    async def partly_read(self, model: str, text_hashes: Sequence[str]) -> dict[str, float]:
        """The share that a model read of each of the given texts that it read only in part, by text hash."""
        rows = await self._vectors(_PARTLY_READ, model, text_hashes)
        return {row.text_hash: row.read_share for row in rows}

    async def text_with_vector(self, model: str) -> tuple[str, NDArray[np.float32]] | None:
        """A short text with its vector by a model, of shape (dimensions,); None where none is stored."""
        columns = select(chunks.c.id, vectors.c.vector).where(vectors.c.model == model)
        query = columns.join(vectors, vectors.c.text_hash == chunks.c.text_hash).limit(_SAMPLES)
        vectors_by_id = {row.id: np.frombuffer(row.vector, "<f4") for row in await self._database.rows(query)}
        stored = await self.get(list(vectors_by_id))
        shortest = min(stored.values(), key=lambda chunk: len(chunk.text), default=None)
        return None if shortest is None else (shortest.text, vectors_by_id[shortest.id])

    async def get_vectors(self, model: str, text_hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors among those of the given texts, by text hash; each of shape (dimensions,)."""
        rows = await self._vectors(_VECTORS, model, text_hashes)
        return {row.text_hash: np.frombuffer(row.vector, "<f4") for row in rows}

    async def _vectors(self, query: Select[Any], model: str, text_hashes: Sequence[str]) -> list[Row[Any]]:
        return await self._database.read(
            lambda connection: [*rows_of_keys(connection, query, text_hashes, of_model=model)]
        )


class Sources(Store):
    """The usable pages of each battle, and the sides that cite them."""

    async def add(self, battle_id: str, new: Sequence[StoredSource]) -> None:
        """Store the usable pages of a battle; of a page that it has already, the one fetched later stays."""
        rows = [
            {"battle_id": battle_id, "url_hash": content_hash(s.url), "url": s.url, "title": s.title}
            | {"content_hash": s.content_hash, "fetched_at": s.fetched_at}
            | {"cited_by_a": Side.A in s.cited_by, "cited_by_b": Side.B in s.cited_by, "arena": s.arena}
            for s in new
        ]
        if rows:
            await self._database.write(Each(_put_sources, rows))

    async def of_battle(self, battle_id: str, side: Side | None = None) -> list[StoredSource]:
        """The usable pages of a battle, or only those that one side cites."""
        stored = [_source(row) for row in await self._database.rows(_OF_BATTLE, {"battle": battle_id})]
        return [source for source in stored if side is None or side in source.cited_by]

    async def of_pages(
        self, content_hashes: Sequence[str], arenas: Collection[str]
    ) -> dict[str, StoredSource]:
        """One source for each of the given pages that has any in these arenas, by content hash."""
        query = select(sources).where(among(sources.c.content_hash), sources.c.arena.in_(arenas))
        query = query.order_by(sources.c.url.desc())  # of several, the first one stays
        rows = await self._database.read(lambda tx: [*rows_of_keys(tx, query, content_hashes)])
        return {row.content_hash: _source(row) for row in rows}


def _put_sources(connection: Connection, new: Sequence[Sequence[Mapping[str, Any]]]) -> Sequence[None]:
    """Store sources, in the order of their keys, so that two writers of the same rows cannot deadlock."""
    rows = sorted((row for rows in new for row in rows), key=itemgetter("battle_id", "url_hash"))
    connection.execute(replacing(connection.dialect.name, sources, _was_fetched_later), rows)
    return [None] * len(new)


def _was_fetched_later(new: Any) -> ColumnElement[bool]:
    stored = sources.c.fetched_at
    return or_(stored.is_(None), new.fetched_at.is_(None), new.fetched_at >= stored)


def _row(chunk: StoredChunk, page: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {"id": chunk.id, "content_hash": chunk.content_hash, "ordinal": chunk.ordinal}
    row |= {"text": chunk.text, "span": None, "text_hash": chunk.text_hash, **asdict(chunk.origin)}
    if page is not None and chunk.span is not None:
        row |= {"text": None, "span": stored_span(chunk.text, page, chunk.span)}
    return row


def _chunk(row: Row[Any], text: str) -> StoredChunk:
    origin = Origin(row.language, row.fetched_at, row.language_confidence, row.arena)
    return StoredChunk(text=text, origin=origin, **{name: getattr(row, name) for name in _CHUNK})


def _source(row: Row[Any]) -> StoredSource:
    sides = tuple(side for side, cites in ((Side.A, row.cited_by_a), (Side.B, row.cited_by_b)) if cites)
    return StoredSource(cited_by=sides, **{name: getattr(row, name) for name in _SOURCE})
