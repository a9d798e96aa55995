"""How many chunks have a term, from the statistics that PostgreSQL keeps for its planner."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from sqlalchemy import text

from services.store.database import Database

_SECONDS = 600.0  # for which statistics are used
_RARE = 0.5  # a term that is not among the common ones: this share of the rarest of them


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
    """The frequencies of the common terms of a table with a column `words`."""

    def __init__(self, database: Database, table: str) -> None:
        self._database, self._table = database, table
        self._size, self._common = 0.0, dict[str, float]()
        self._read_at: float | None = None

    def forget(self) -> None:
        """Read them again at the next search."""
        self._read_at = None

    async def size(self) -> float:
        """Number of chunks, an estimate."""
        if self._read_at is None or monotonic() - self._read_at > _SECONDS:
            await self._read()
        return self._size

    async def holders(self, words: Sequence[str]) -> Holders:
        """How many chunks have each term; about one where the database has no statistics yet."""
        size = await self.size()
        rarest = min(self._common.values(), default=0.0)
        shares = {word: self._common.get(word, _RARE * rarest) for word in words}
        return Holders(size, {word: max(share * size, 1.0) for word, share in shares.items()})

    async def _read(self) -> None:
        size = text("SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = to_regclass(:name)")
        common = text(
            "SELECT CAST(CAST(most_common_elems AS text) AS text[]) AS terms, "
            "most_common_elem_freqs AS shares FROM pg_stats "
            "WHERE tablename = :name AND attname = 'words' AND most_common_elems IS NOT NULL"
        )
        async with self._database.reading() as tx:
            self._size = float(await tx.scalar(size, {"name": self._table}) or 1.0)
            row = (await tx.execute(common, {"name": self._table})).one_or_none()
        # After the frequencies of the terms come the smallest and the largest one.
        self._common = {} if row is None else dict(zip(row.terms, row.shares, strict=False))
        self._read_at = monotonic()
