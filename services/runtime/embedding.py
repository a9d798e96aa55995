"""The interface of embedding models, wherever they run."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


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


def from_threads(embedder: Embedder) -> Callable[[Sequence[str]], Vectors]:
    """The embedder as a function that other threads can call, for instance those of the offline model."""
    loop = asyncio.get_running_loop()

    def embed(texts: Sequence[str]) -> Vectors:
        return asyncio.run_coroutine_threadsafe(embedder.embed(texts), loop).result()

    return embed
