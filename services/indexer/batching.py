"""An embedding model in this process, whose batches are joined from the requests of many callers."""

import asyncio
from collections.abc import Sequence
from contextvars import Context

from services.indexer.gathering import BatchLimits, Gathering, Waiting, answer, rows_of
from services.runtime.embedding import Embedder, Vectors

_LIMITS = BatchLimits(texts=256)


class BatchingEmbedder:
    """Joins the requests of many callers into batches of like length.

    The next batch collects while one is computed, so there is no timer and no added latency when idle.

    Args:
        inner: The model.
        limits: The largest batch; the model divides it further.

    Attributes:
        model: Name of the model.
    """

    def __init__(self, inner: Embedder, limits: BatchLimits = _LIMITS) -> None:
        self._inner = inner
        self.model = inner.model
        self._limits = limits
        self._gathering = Gathering()
        self._worker: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        added = self._gathering.add(texts)
        if self._worker is None or self._worker.done():
            # In a context of its own, because a batch belongs to no single battle.
            self._worker = asyncio.create_task(self._work(), context=Context())
        return await rows_of(added)

    async def _rows(self, batch: Sequence[Waiting]) -> Vectors:
        rows = await self._inner.embed([text.text for text in batch])
        if len(rows) != len(batch):
            raise ValueError(f"{self.model} returned {len(rows)} vectors for {len(batch)} texts")
        return rows

    async def _work(self) -> None:
        while batch := self._gathering.take(self._limits):
            try:
                answer(batch, await self._rows(batch))
            except Exception as error:
                for text in batch:
                    text.fail(error)
