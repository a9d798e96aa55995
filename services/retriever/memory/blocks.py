"""Vectors by row in blocks, so that a row that is added does not copy those that are there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from services.runtime.embedding import Vectors

_SMALLEST, _LARGEST = 1024, 16_384  # rows of a block; each has as many as there are before it


@dataclass(frozen=True, slots=True)
class Blocks:
    """Vectors of rows 0 to size - 1.

    Attributes:
        dimensions: Dimensions of a vector.
        size: Number of rows.
        blocks: Their vectors, in blocks of which only the last has unused rows, at its end.
    """

    dimensions: int
    size: int
    blocks: tuple[Vectors, ...]

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """These vectors, without a copy."""
        return cls(vectors.shape[1], len(vectors), (vectors,) if len(vectors) else ())

    def parts(self) -> Iterator[tuple[int, Vectors]]:
        """The used rows of each block, in place, with the number of the first of them."""
        start = 0
        for block in self.blocks:
            yield start, block[: self.size - start]
            start += len(block)

    def extended(self, vectors: Vectors) -> "Blocks":
        """With more rows. Only the newest state is extended, so earlier ones do not see their rows."""
        blocks, size = self.blocks, self.size + len(vectors)
        room = sum(map(len, blocks)) - self.size
        if room:
            blocks[-1][len(blocks[-1]) - room :][: len(vectors)] = vectors[:room]
        if rest := len(vectors[room:]):
            block = np.zeros(
                (max(rest, min(max(self.size, _SMALLEST), _LARGEST)), self.dimensions), np.float32
            )
            block[:rest] = vectors[room:]
            blocks = (*blocks, block)
        return Blocks(self.dimensions, size, blocks)

    def erase(self, rows: NDArray[np.int64]) -> None:
        """Overwrite vectors, in place."""
        for start, part in self.parts():
            part[rows[(rows >= start) & (rows < start + len(part))] - start] = 0.0

    def products(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of each row with a vector."""
        result = np.empty(self.size, dtype=np.float32)
        for start, part in self.parts():
            np.dot(part, vector, out=result[start : start + len(part)])
        return result

    def after(self, row: int) -> Vectors:
        """The rows from one on."""
        parts = [part[max(row - start, 0) :] for start, part in self.parts() if start + len(part) > row]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)
