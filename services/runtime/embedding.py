"""The port through which texts become vectors, wherever the model runs."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into L2-normalised vectors; the dot product of two is their cosine similarity."""

    @property
    def model(self) -> str:
        """Name under which its vectors are stored; another model, another name."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions), one row per text, in order.

        Raises:
            Unavailable: the model cannot be reached.
        """
