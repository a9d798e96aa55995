"""The interface of embedding models, wherever they run."""

from collections.abc import Sequence
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
