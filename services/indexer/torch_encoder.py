"""Embedding models by sentence-transformers, on a processor or on another device."""

import importlib.util
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from services.indexer.encoder import ON_DEVICE, ON_PROCESSOR, BatchSize
from services.runtime.embedding import Vectors


def installed() -> bool:
    """Whether the extra with sentence-transformers is installed."""
    return importlib.util.find_spec("sentence_transformers") is not None


class TorchEncoder:
    """A sentence-transformers model.

    Args:
        model: The `SentenceTransformer`.
        largest: The largest batch that is worth it; by default one that suits the model's device.
    """

    def __init__(self, model: Any, largest: BatchSize | None = None) -> None:
        self.model = model
        self.largest = largest or (ON_PROCESSOR if model.device.type == "cpu" else ON_DEVICE)

    @property
    def limit(self) -> int | None:
        """The most tokens of a text that are read."""
        return int(self.model.max_seq_length) if self.model.max_seq_length else None

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text."""
        encoded = self.model.tokenizer(
            list(texts), truncation=False, return_attention_mask=False, verbose=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        rows = self.model.encode(list(texts), batch_size=len(texts), show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32)


def load_torch(name: str, threads: int) -> TorchEncoder:
    """Load a model by sentence-transformers, in half precision where it is not computed on a processor.

    Args:
        name: Name or folder of the model.
        threads: Threads that compute on a processor.

    Raises:
        OSError: There is no such model, or it cannot be downloaded.
    """
    # Read when torch is loaded. Threads that spin while they wait take the processor from the event loop.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(threads)
    model = SentenceTransformer(name)
    return TorchEncoder(model if model.device.type == "cpu" else model.half())
