"""The embedding model in this process: loaded once, and computed in batches of like length."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import numpy as np

from services.indexer.cuts import Cuts
from services.indexer.encoder import BatchSize, Encoder
from services.runtime import metrics
from services.runtime.embedding import Vectors, unit

_BUSY = 1 / 8  # share of the largest batch that keeps a processor or device busy
_ALIKE = 3 / 4  # share of the longest text's length, below which a text is mostly padding


class LocalEmbedder:
    """A model in this process, loaded at first use.

    Concurrent calls run one after another, because the model uses all cores.

    Args:
        model: Name of the model, under which its vectors are stored.
        load: Loads the model.
    """

    def __init__(self, model: str, load: Callable[[], Encoder]) -> None:
        self.model, self._load_model = model, load
        self.cuts = Cuts()
        self._loaded: Encoder | None = None
        self._lock = threading.RLock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Blocks while the model computes."""
        with self._lock:
            encoder = self._encoder()
            tokens = encoder.count(texts)
            limit = encoder.limit or max(tokens, default=0)
            self._note_cuts(texts, tokens, limit)
            parts = by_length([min(count, limit) for count in tokens], encoder.largest)
            rows = [encoder.encode([texts[i] for i in part]) for part in parts]
        order = np.argsort(np.concatenate([np.asarray(part) for part in parts]))
        return unit(np.concatenate(rows)[order])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As `encode`, without blocking the event loop."""
        return await asyncio.to_thread(self.encode, texts)

    async def ready(self) -> None:
        """Load the model, unless it is loaded.

        Raises:
            OSError: There is no such model, or it cannot be downloaded.
            NotInstalled: What computes it is not installed.
        """
        await asyncio.to_thread(self._encoder)

    def _note_cuts(self, texts: Sequence[str], tokens: Sequence[int], limit: int) -> None:
        cut = [(text, limit / count) for text, count in zip(texts, tokens, strict=True) if count > limit]
        metrics.EMBEDDING_CUTS.labels(self.model).inc(len(cut))
        for text, share in cut:
            self.cuts.note(text, share)

    def _encoder(self) -> Encoder:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_model()
            return self._loaded


def by_length(tokens: Sequence[int], largest: BatchSize) -> list[list[int]]:
    """The indices of texts in batches of like length, the longest first.

    A batch that is large enough to keep the processor busy takes no text that would be mostly padding.

    Args:
        tokens: Number of tokens of each text.
        largest: The largest batch; a longer text is a batch by itself.

    >>> by_length([5, 100, 6, 90], BatchSize(texts=32, tokens=200))
    [[1, 3], [2, 0]]
    >>> by_length([20, 11, 20, 19], BatchSize(texts=32, tokens=200))
    [[0, 2, 3], [1]]
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(tokens)), key=lambda i: -tokens[i]):
        batch = batches[-1] if batches else []
        if not batch or _is_full(batch, tokens, tokens[index], largest):
            batches.append([index])
        else:
            batch.append(index)
    return batches


def _is_full(batch: Sequence[int], tokens: Sequence[int], following: int, largest: BatchSize) -> bool:
    longest, padded = tokens[batch[0]], tokens[batch[0]] * len(batch)
    if len(batch) >= largest.texts or padded + longest > largest.tokens:
        return True
    return padded >= largest.tokens * _BUSY and following < longest * _ALIKE
