"""What searches of the index in memory read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.retriever.memory.postings import Postings
from services.retriever.memory.rows import Mask, VectorRows


@dataclass(frozen=True, slots=True)
class State:
    """What searches read; a field is replaced and never changed.

    Attributes:
        keys: Id of each row; the list is extended in place, beyond the rows of this state.
        alive: Whether each row has a chunk, which was not removed.
        lengths: Number of terms of each row; 0 for removed ones.
        languages: Number of the language of each row; -1 without one.
        fetched: Time at which the page was fetched, in seconds since 1970; NaN without one.
        postings: The terms.
        vectors: The vectors; None without an embedding model, and before the first chunk.
    """

    keys: list[str]
    alive: Mask
    lengths: NDArray[np.float32]
    languages: NDArray[np.int16]
    fetched: NDArray[np.float64]
    postings: Postings
    vectors: VectorRows | None

    @classmethod
    def empty(cls) -> "State":
        """Without any row."""
        return cls(
            keys=[],
            alive=np.zeros(0, dtype=np.bool_),
            lengths=np.zeros(0, dtype=np.float32),
            languages=np.zeros(0, dtype=np.int16),
            fetched=np.zeros(0, dtype=np.float64),
            postings=Postings(),
            vectors=None,
        )

    def rows_by_key(self) -> dict[str, int]:
        """The row of each chunk, by id."""
        return {self.keys[row]: row for row in np.flatnonzero(self.alive).tolist()}

    def compacted(self) -> "State":
        """Without the removed rows."""
        kept = np.flatnonzero(self.alive)
        new_rows = np.full(len(self.alive), -1, dtype=np.int64)
        new_rows[kept] = np.arange(len(kept))
        vectors = None
        if self.vectors is not None:
            everything = self.vectors.all()
            vectors = VectorRows.empty(everything.shape[1]).extended(everything[kept])
        return State(
            keys=[self.keys[row] for row in kept],
            alive=np.ones(len(kept), dtype=np.bool_),
            lengths=self.lengths[kept],
            languages=self.languages[kept],
            fetched=self.fetched[kept],
            postings=self.postings.moved(new_rows),
            vectors=vectors,
        )
