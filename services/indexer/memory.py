"""Vectors of recent texts, kept, and shared while they are being computed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.runtime.embedding import Embedder, Vectors
from services.runtime.shared_cache import Retention, SharedCache

_Row = NDArray[np.float32]


class RememberingEmbedder:
    """Asks the embedder behind it only for texts that nobody has asked for recently.

    The nuggets, labels and verdict of one battle need vectors of the same sentences at the same time: a text
    that one of them asked for is not computed again for the others.

    Args:
        inner: Computes the vectors that are not kept.
        limit: Maximum number of texts kept; the ones used longest ago are dropped first. With 1,024
            dimensions, 50,000 texts take 200 MB for the vectors and some 50 MB around them.
    """

    def __init__(self, inner: Embedder, limit: int = 50_000) -> None:
        self._inner = inner
        self._rows: SharedCache[str, _Row] = SharedCache(Retention(entries=limit))

    @property
    def model(self) -> str:
        """The model's name."""
        return self._inner.model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions).

        Raises:
            Exception: what the embedder behind it raised, for every caller that waits for one of the texts;
                the next call asks again.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack(await self._rows.get_many(texts, self._compute))

    async def _compute(self, texts: Sequence[str]) -> Sequence[_Row]:
        # Copied: a view would keep the rows of its whole call in memory.
        return [row.copy() for row in await self._inner.embed(texts)]
