"""Remember the vectors of recent texts."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


class Remembering:
    """An encoder that asks the one behind it only for texts it has not seen lately. Thread-safe.

    Args:
        encode: texts to rows of shape (len(texts), dimensions).
        limit: texts remembered; the ones not asked for longest go first.
    """

    def __init__(self, encode: Encode, limit: int = 50_000) -> None:
        self._encode = encode
        self._limit = limit
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of shape (len(texts), dimensions)."""
        with self._lock:
            known = {text: self._rows[text] for text in texts if text in self._rows}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known |= dict(zip(missing, self._encode(missing), strict=True))
        with self._lock:
            for text in known:
                self._rows[text] = known[text]
                self._rows.move_to_end(text)
            while len(self._rows) > self._limit:
                self._rows.popitem(last=False)
        return np.stack([known[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)
