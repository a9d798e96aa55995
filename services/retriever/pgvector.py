"""The index in PostgreSQL: vectors and words by pgvector. The process keeps neither.

Each model has a table of its own, so that another model is indexed while this one serves. A row goes with its
chunk (a foreign key that cascades), so a deleted battle leaves nothing behind.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray
from sqlalchemy import ARRAY, Text, bindparam, func, select, text
from sqlalchemy.exc import DBAPIError

from nuggetstream.domain.failure import Reason
from services.retriever.pg_table import (
    GRAPH,
    MAX_GRAPH_DIMENSIONS,
    TABLES,
    TIMES,
    WORDS,
    build_index,
    create_table,
    dimensions_of,
)
from services.retriever.pg_words import counted, lexemes, weights, word_query
from services.retriever.port import ALL, Filter, language_subtag
from services.retriever.term_statistics import TermStatistics
from services.runtime.embedding import Vectors
from services.runtime.errors import Unavailable
from services.store.content.chunks import StoredChunk
from services.store.database import Database
from services.store.utc_datetime import UtcDateTime

log = structlog.get_logger(__name__)

_LAYOUT = "4"  # part of the names of tables, because another layout needs other tables
_EXACT = 20_000  # rows up to which a vector is compared with all others
_LARGE = 200_000  # rows above which a search in the graph considers more candidates
_SEARCHING, _SEARCHING_IN_LARGE = 200, 400  # candidates of a search in the graph at least (ef_search)
_MOST_SEARCHING = 1000  # that pgvector takes
# A search with a filter goes on in more of the graph than by default, because few chunks may pass.
_FILTERED = {"max_scan_tuples": 200_000, "scan_mem_multiplier": 8}
_GROWN = 0.2  # share of new rows at which the statistics are collected again


class PgVectorIndex:
    """An index in the database.

    Args:
        database: PostgreSQL with the extension vector.
        model: Name of the embedding model; None to index words alone.
        exact_chunks: Number of chunks up to which a search compares its vector with all others; with more,
            a graph (HNSW) answers, which is faster and finds nearly all of the nearest. Vectors of more
            dimensions than pgvector puts into a graph are always compared.
    """

    def __init__(self, database: Database, model: str | None, exact_chunks: int = _EXACT) -> None:
        self._database, self._model, self._exact = database, model, exact_chunks
        name = f"{_LAYOUT} {model or 'words'}"
        self.table = f"search_{sha256(name.encode()).hexdigest()[:16]}"
        self._statistics = TermStatistics(database, self.table)
        self._exists, self._has_words = False, False
        self._needs_graph = model is not None
        self._filling = 0  # scopes in which many chunks are added
        self._size, self._new = 0, 0  # rows at the last statistics, and since
        self._tending: asyncio.Task[None] | None = None

    async def prepare(self) -> None:
        """Load the extension, and count terms if a table that is there lacks it.

        Raises:
            Unavailable: The server lacks it, or only an administrator may load it.
        """
        try:
            async with self._database.transaction() as tx:
                if not await tx.scalar(text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")):
                    await tx.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        except DBAPIError as error:
            detail = "the database lacks pgvector 0.8: an administrator has to run CREATE EXTENSION vector"
            raise Unavailable(Reason.STORE_UNAVAILABLE, detail, admin_detail=str(error.orig)) from error
        if await self._is_there() and not await self._statistics.are_collected():
            self._tending = self._database.start(self._tend())

    async def ids(self) -> AbstractSet[str] | None:
        """None: chunks leave the index with their rows in the table of chunks."""
        return None

    async def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of the given chunks that it does not have."""
        if not await self._is_there():
            return list(ids)
        query = text(f"SELECT chunk_id FROM {self.table} WHERE chunk_id = ANY(:ids)")  # noqa: S608
        async with self._database.reading() as tx:
            indexed = set(await tx.scalars(query.bindparams(_array("ids")), {"ids": list(ids)}))
        return [key for key in ids if key not in indexed]

    async def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those it has, and those that were deleted, are left out."""
        if not chunks:
            return
        if not await self._is_there():
            await self._create(None if vectors is None else vectors.shape[1])
        values = await asyncio.to_thread(_values_of, chunks, vectors)
        async with self._database.transaction() as tx:
            added = (await tx.execute(_insert(self.table, with_vectors=vectors is not None), values)).rowcount
        self._new += max(added, 0)
        self._tend_if_due()

    @asynccontextmanager
    async def filling(self) -> AsyncIterator[None]:
        """A scope in which many chunks are added: a new table has an index of words, and a graph, at its end.

        Otherwise every chunk would be added to both, which takes several times as long.
        """
        self._filling += 1
        try:
            yield
        finally:
            self._filling -= 1
        await self._build_words()  # without it, each search would read all chunks
        self._tend_if_due()

    async def remove(self, ids: AbstractSet[str]) -> None:
        """Nothing: the rows are gone."""

    async def nearest(self, vector: NDArray[np.float32], limit: int, only: Filter = ALL) -> list[str]:
        """The chunks nearest to a vector, best first."""
        if limit < 1 or self._model is None or not await self._is_there():
            return []
        condition, values = _condition(only)
        least = _SEARCHING if await self._statistics.size() <= _LARGE else _SEARCHING_IN_LARGE
        searching = min(max(least, limit + limit // 4), _MOST_SEARCHING)
        values["vector"] = _halves(vector)
        # Subqueries are evaluated once. That of the settings is so before the first row is read, and they end
        # with the statement: neither costs a message to the server, and a pooler cannot hand them to another
        # client. The vector would otherwise be read from its text again for every row of the result.
        settings = {"ef_search": searching, "iterative_scan": "strict_order"}
        settings |= {} if only == ALL else _FILTERED
        applied = " || ".join(f"set_config('hnsw.{key}', '{value}', true)" for key, value in settings.items())
        statement = text(
            f"SELECT chunk_id FROM {self.table} WHERE (SELECT {applied}) IS NOT NULL AND "  # noqa: S608 - our own names
            f"{condition} ORDER BY embedding <#> (SELECT CAST(CAST(:vector AS text) AS halfvec)) "
            f"LIMIT {limit:d}"
        )
        async with self._database.reading() as tx:
            return list(await tx.scalars(_typed(statement, values), values))

    async def matching(self, query: str, limit: int, only: Filter = ALL) -> list[str]:
        """The chunks that share a term with a query, best first; BM25 with estimated frequencies."""
        words = counted(query)
        if limit < 1 or not words or not await self._is_there():
            return []
        asked = word_query(words, await self._statistics.holders(list(words)), limit)
        condition, values = _condition(only)
        values |= {"any": asked.any_of, "weights": asked.weights}
        statement = text(
            f"SELECT chunk_id FROM {self.table} WHERE words @@ CAST(:any AS tsquery) "  # noqa: S608
            f"AND {condition} ORDER BY weights <#> (SELECT CAST(CAST(:weights AS text) AS sparsevec)), "
            f"chunk_id LIMIT {limit:d}"
        )
        async with self._database.reading() as tx:
            return list(await tx.scalars(_typed(statement, values), values))

    async def settled(self) -> None:
        """Wait until neither a graph is built nor statistics are collected."""
        while self._tending is not None and not self._tending.done():
            await asyncio.wait([self._tending])

    async def _is_there(self) -> bool:
        if not self._exists:
            async with self._database.reading() as tx:
                self._exists = await tx.scalar(select(func.to_regclass(self.table))) is not None
        return self._exists

    async def _create(self, dimensions: int | None) -> None:
        async with self._database.exclusive(TABLES) as tx:
            await create_table(tx, self.table, self._model, dimensions)

    def _tend_if_due(self) -> None:
        due = self._new > _GROWN * self._size and not self._filling
        if due and (self._tending is None or self._tending.done()):
            self._tending = self._database.start(self._tend())

    async def _tend(self) -> None:
        """Build the index of words, count terms, and build the graph once there are enough chunks."""
        try:
            self._new = 0
            await self._build_words()
            async with self._database.reading() as tx:
                # Not while an index is built: that would wait for this snapshot, and this for its lock.
                await tx.execute(text(f"ANALYZE (SKIP_LOCKED) {self.table}"))
                self._size = int(await tx.scalar(text(f"SELECT count(*) FROM {self.table}")) or 0)  # noqa: S608
            await self._statistics.collect(self._size)
            if self._needs_graph and self._size > self._exact:
                self._needs_graph = not await self._build_graph()
        except (Unavailable, DBAPIError) as error:
            message = error.for_operators if isinstance(error, Unavailable) else str(error)
            log.warning("the index is not tended now", table=self.table, error=message)

    async def _build_graph(self) -> bool:
        """Build the graph if there can be one; whether nothing is left to do."""
        async with self._database.reading() as tx:
            dimensions = await dimensions_of(tx, self.table)
        if dimensions is None:
            return False  # a table of words
        if dimensions <= MAX_GRAPH_DIMENSIONS:
            await build_index(self._database, self.table, GRAPH)
            return True
        log.warning(
            "searches compare all vectors: pgvector builds no graph for so many dimensions",
            table=self.table,
            model=self._model,
            dimensions=dimensions,
            most=MAX_GRAPH_DIMENSIONS,
        )
        return True

    async def _build_words(self) -> None:
        """Build the index of words, and that of the times by which searches are filtered."""
        if not self._has_words and await self._is_there():
            for name in (WORDS, TIMES):
                await build_index(self._database, self.table, name)
            self._has_words = True


def _values_of(chunks: Sequence[StoredChunk], vectors: Vectors | None) -> dict[str, Any]:
    bags = [counted(chunk.text) for chunk in chunks]
    values = {
        "ids": [chunk.id for chunk in chunks],
        "arenas": [chunk.origin.arena for chunk in chunks],
        "languages": [language_subtag(chunk.origin.language) for chunk in chunks],
        "fetched": [chunk.origin.fetched_at for chunk in chunks],
        "words": [lexemes(counts) for counts in bags],
        "weights": [weights(counts) for counts in bags],
    }
    return values if vectors is None else values | {"vectors": [_halves(row) for row in vectors]}


def _array(name: str) -> Any:
    return bindparam(name, type_=ARRAY(Text))


def _insert(table: str, *, with_vectors: bool) -> Any:
    vector = (", embedding", ", CAST(n.vector AS halfvec)", ", :vectors", ", vector")
    column, value, given, name = vector if with_vectors else ("", "", "", "")
    statement = text(
        f"INSERT INTO {table} (chunk_id, arena, language, fetched_at, words, weights{column}) "  # noqa: S608 - our own names
        f"SELECT chunks.id, n.arena, n.language, n.fetched_at, CAST(n.words AS tsvector), "
        f"CAST(n.weights AS sparsevec){value} "
        f"FROM unnest(:ids, :arenas, :languages, :fetched, :words, :weights{given}) "
        f"AS n(id, arena, language, fetched_at, words, weights{name}) JOIN chunks ON chunks.id = n.id "
        "ORDER BY chunks.id FOR KEY SHARE OF chunks ON CONFLICT DO NOTHING"
    )
    names = ["ids", "arenas", "languages", "words", "weights", *(["vectors"] if with_vectors else [])]
    arrays = [_array(name) for name in names]
    return statement.bindparams(*arrays, bindparam("fetched", type_=ARRAY(UtcDateTime())))


def _condition(only: Filter) -> tuple[str, dict[str, Any]]:
    conditions, values = ["true"], dict[str, Any]()
    if only.languages is not None:
        conditions.append("language = ANY(:languages)")
        values["languages"] = sorted(only.languages)
    if only.arenas is not None:
        conditions.append("arena = ANY(:arenas)")
        values["arenas"] = list(only.arenas)
    if only.fetched_after is not None:
        conditions.append("fetched_at >= :after")
        values["after"] = only.fetched_after
    return " AND ".join(conditions), values


def _typed(statement: Any, values: dict[str, Any]) -> Any:
    typed = [_array(name) for name in ("arenas", "languages") if name in values]
    if "after" in values:
        typed.append(bindparam("after", type_=UtcDateTime()))
    return statement.bindparams(*typed)


def _halves(row: NDArray[np.float32]) -> str:
    return f"[{','.join(f'{x:.5g}' for x in row.tolist())}]"
