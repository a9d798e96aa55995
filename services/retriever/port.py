"""The port of the indexes over all chunks: what finds chunks by their vectors and by their words.

Two implementations: `memory` in the process, `pgvector` in PostgreSQL. One suite of tests runs against both.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from services.runtime.embedding import Vectors
from services.store.content.chunks import Origin, StoredChunk

MAX_CHUNKS = 200_000
"""Number of chunks up to which exact searches in memory are recommended."""
REMEDY = (
    "set NUGGETSTREAM_RETRIEVAL_INDEX=pgvector with a PostgreSQL database, after `nuggetstream reindex "
    "--index pgvector` has filled that index"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """The chunks to consider, by the pages they were cut from.

    Attributes:
        languages: Language subtags in lower case, such as "de", which includes "de-AT"; None for all
            chunks. A chunk whose language is unknown is of none.
        fetched_after: Time at or after which the page was fetched; None for all chunks. Supplied text, which
            was never fetched, does not pass.
        arenas: Arenas whose chunks are considered, the one that searches first; None for those of all.
    """

    languages: frozenset[str] | None = None
    fetched_after: datetime | None = None
    arenas: tuple[str, ...] | None = None

    def passes(self, origin: Origin) -> bool:
        """Whether a chunk of such a page passes."""
        if self.arenas is not None and origin.arena not in self.arenas:
            return False
        if self.languages is not None and language_subtag(origin.language) not in self.languages:
            return False
        if self.fetched_after is None:
            return True
        return origin.fetched_at is not None and origin.fetched_at >= self.fetched_after


ALL = Filter()


def language_subtag(tag: str | None) -> str | None:
    """The language of a BCP 47 tag, in lower case.

    >>> language_subtag("de-AT")
    'de'
    """
    return None if tag is None else tag.partition("-")[0].partition("_")[0].lower()


class VectorIndex(Protocol):
    """Finds chunks of the corpus by their vectors and by their words.

    A chunk is found from the end of `add` on, and not any more after the end of `remove`. Searches do not
    wait for either. Every method raises `Unavailable` if the index does not answer.
    """

    async def ids(self) -> AbstractSet[str] | None:
        """The ids of all its chunks; None if chunks leave it with their rows in the table of chunks."""

    async def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of the given chunks that it does not have, in the given order."""

    async def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those it has stay unchanged.

        Args:
            chunks: The chunks.
            vectors: One row of unit length per chunk; None without an embedding model.
        """

    def filling(self) -> AbstractAsyncContextManager[None]:
        """A scope in which many chunks are added.

        What only makes searches faster may be built when it ends, which takes less time than building it
        chunk by chunk.
        """

    async def remove(self, ids: AbstractSet[str]) -> None:
        """Remove chunks with their vectors; unknown ones are ignored."""

    async def nearest(self, vector: NDArray[np.float32], limit: int, only: Filter = ALL) -> list[str]:
        """Ids of the chunks with the highest cosine similarity to a vector of unit length, best first."""

    async def matching(self, query: str, limit: int, only: Filter = ALL) -> list[str]:
        """Ids of the chunks that share a term with a query, best first."""
