"""A cross-encoder in this process, by sentence-transformers."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Unavailable

_BATCH = 16  # pairs that are computed at once


class CrossEncoderReranker:
    """A model in this process, loaded once: by `ready`, or else by the first call.

    Concurrent calls run one after another, because the model uses all cores.

    Args:
        model: Name or folder of the model.
        load: Loads a model by its name.
    """

    def __init__(self, model: str, load: Callable[[str], Any] | None = None) -> None:
        self.model, self._load = model, load or _load
        self._loaded: Any = None
        self._lock = threading.Lock()

    async def ready(self) -> None:
        """Load the model, unless it is loaded.

        Raises:
            Unavailable: It cannot be loaded.
        """
        if self._loaded is None:
            await asyncio.to_thread(self._load_once)

    async def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The relevance of each text.

        Raises:
            Unavailable: The model cannot be loaded, or cannot compute them.
        """
        return await asyncio.to_thread(self._scores, query, texts)

    def _load_once(self) -> Any:
        try:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._load(self.model)
                return self._loaded
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            detail = f"the reranker {self.model} cannot be loaded"
            raise Unavailable(Reason.LLM_UNAVAILABLE, detail, admin_detail=str(error)) from error

    def _scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        model = self._load_once()
        try:
            with self._lock:
                pairs = [(query, text) for text in texts]
                scores = model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            detail = f"the reranker {self.model} gives no scores"
            raise Unavailable(Reason.LLM_UNAVAILABLE, detail, admin_detail=str(error)) from error
        result = np.asarray(scores, dtype=np.float32)
        if result.shape != (len(texts),) or not np.isfinite(result).all():
            detail = f"the reranker {self.model} gives no number per passage"
            raise Unavailable(Reason.LLM_UNAVAILABLE, detail)
        return result


def _load(name: str) -> Any:
    # Read when torch is loaded. Threads that spin while they wait take the processor from the event loop.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return CrossEncoder(name)
