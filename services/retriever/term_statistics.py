"""How many chunks have each term: counted now and then, in a table beside that of the index.

The statistics that PostgreSQL keeps for its planner know the thousand most frequent terms. A query is mostly
answered by rarer ones, such as names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from time import monotonic

from sqlalchemy import ARRAY, Integer, bindparam, func, select, text

from services.store.database import Database

_SECONDS = 600.0  # for which numbers are remembered
_SAMPLE = 200_000  # chunks whose terms are counted, about
_CHANGED = 0.2  # share of chunks that came or went, at which terms are counted again
_ASSUMED = 0.001  # share of the chunks that have a term, before the first count
_MOST_REMEMBERED = 100_000  # terms
_SIZE = 0  # the number of the row that has the number of chunks


@dataclass(frozen=True, slots=True)
class Holders:
    """How many chunks have terms.

    Attributes:
        size: Number of chunks.
        counts: Number of chunks by term, an estimate.
    """

    size: float
    counts: dict[str, float]


class TermStatistics:
    """How many chunks have each term of a table with a column `words`.

    The table of counts has the numbers of terms, not their texts, because it may outlive deleted chunks.
    """

    def __init__(self, database: Database, table: str) -> None:
        self._database, self._table, self._terms = database, table, terms_table(table)
        self._size, self._is_counted = 1.0, False
        self._counts = dict[str, float]()
        self._read_at: float | None = None

    def forget(self) -> None:
        """Read them again at the next search."""
        self._read_at = None

    async def are_collected(self) -> bool:
        """Whether the terms were ever counted."""
        await self._read()
        return self._is_counted

    async def size(self) -> float:
        """Number of chunks, an estimate."""
        if self._read_at is None or monotonic() - self._read_at > _SECONDS:
            await self._read()
        return self._size

    async def holders(self, words: Sequence[str]) -> Holders:
        """How many chunks have each term."""
        size = await self.size()
        if len(self._counts) > _MOST_REMEMBERED:
            self._counts.clear()
        # Another search may clear what is remembered while this one waits.
        counts = {word: self._counts[word] for word in words if word in self._counts}
        if unknown := [word for word in words if word not in counts]:
            read = await self._look_up(unknown)
            self._counts |= read
            counts |= read
        return Holders(size, counts)

    async def collect(self, size: int) -> None:
        """Count the terms, unless few chunks came since, or another process counts them now.

        Args:
            size: Number of chunks.
        """
        share = min(1.0, _SAMPLE / max(size, 1))
        sample = "" if share == 1 else f" TABLESAMPLE SYSTEM ({100 * share:.6f})"
        async with self._database.transaction() as tx:
            key = func.hashtextextended(self._terms, 0)
            if not await tx.scalar(select(func.pg_try_advisory_xact_lock(key))):
                return
            if await tx.scalar(select(func.to_regclass(self._terms))) is not None:
                counted = await tx.scalar(text(f"SELECT chunks FROM {self._terms} WHERE term = {_SIZE}"))  # noqa: S608
                if counted is not None and abs(size - counted) <= _CHANGED * counted:
                    return
            new = f"{self._terms}_new"
            statements = (
                f"CREATE TABLE {new} AS SELECT {_NUMBER} AS term, "  # noqa: S608 - our own names
                f"CAST(sum(ndoc) / {share} AS real) AS chunks "
                f"FROM ts_stat('SELECT words FROM {self._table}{sample}') WHERE ndoc > 1 GROUP BY 1",
                f"DELETE FROM {new} WHERE term = {_SIZE}",  # noqa: S608
                f"INSERT INTO {new} VALUES ({_SIZE}, {size})",  # noqa: S608
                f"ALTER TABLE {new} ADD PRIMARY KEY (term)",
                f"DROP TABLE IF EXISTS {self._terms}",
                f"ALTER TABLE {new} RENAME TO {self._terms}",
            )
            for statement in statements:
                await tx.exec_driver_sql(statement)
        self.forget()

    async def _read(self) -> None:
        estimate = text("SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = to_regclass(:name)")
        async with self._database.reading() as tx:
            self._is_counted = await tx.scalar(select(func.to_regclass(self._terms))) is not None
            if self._is_counted:
                size = await tx.scalar(text(f"SELECT chunks FROM {self._terms} WHERE term = {_SIZE}"))  # noqa: S608
            else:
                size = await tx.scalar(estimate, {"name": self._table})
        self._size = max(float(size or 1.0), 1.0)
        self._counts.clear()
        self._read_at = monotonic()

    async def _look_up(self, words: Sequence[str]) -> dict[str, float]:
        if not self._is_counted:
            return dict.fromkeys(words, max(_ASSUMED * self._size, 1.0))
        numbers = {number_of(word): word for word in words}
        query = text(f"SELECT term, chunks FROM {self._terms} WHERE term = ANY(:terms)")  # noqa: S608
        query = query.bindparams(bindparam("terms", type_=ARRAY(Integer)))
        async with self._database.reading() as tx:
            rows = await tx.execute(query, {"terms": list(numbers)})
            counted = {numbers[row.term]: float(row.chunks) for row in rows}
        # A term that the sample has once or never: half of what one chunk of the sample stands for.
        rare = max(0.5 * self._size / _SAMPLE, 1.0)
        return {word: max(counted.get(word, rare), 1.0) for word in words}


def terms_table(table: str) -> str:
    """The table of the numbers of terms that belongs to the table of an index."""
    return f"{table}_terms"


_NUMBER = "CAST(CAST('x' || left(md5(word), 8) AS bit(32)) AS integer)"  # as `number_of`


def number_of(term: str) -> int:
    """The number that stands for a term: the first 32 bits of its MD5, which PostgreSQL computes, too."""
    return int.from_bytes(md5(term.encode(), usedforsecurity=False).digest()[:4], signed=True)
