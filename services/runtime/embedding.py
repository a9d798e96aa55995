"""The interface of embedding models, wherever they run."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class NotInstalled(ValueError):
    """What computes an embedding model is not installed."""


class Embedder(Protocol):
    """Computes L2-normalised vectors of texts; the dot product of two is their cosine similarity."""

    @property
    def model(self) -> str:
        """Name of the model, under which its vectors are stored."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions), one row per text, in order.

        Raises:
            Unavailable: The model cannot be reached.
        """


def stacked(rows: Sequence[Vectors]) -> Vectors:
    """Vectors as the rows of a matrix, which has none where there are none."""
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def unit(rows: Vectors) -> Vectors:
    """The rows scaled to length one, in single precision.

    >>> unit(np.array([[3.0, 4.0]], dtype=np.float32)).round(2).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(rows / norms, dtype=np.float32)


def from_threads(embedder: Embedder) -> Callable[[Sequence[str]], Vectors]:
    """The embedder as a function that other threads can call, for instance those of the offline model."""
    loop = asyncio.get_running_loop()

    def embed(texts: Sequence[str]) -> Vectors:
        return asyncio.run_coroutine_threadsafe(embedder.embed(texts), loop).result()

    return embed
