"""Remember the vectors of recent texts, those still being computed included."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.runtime.embedding import Embedder, Vectors

_Row = NDArray[np.float32]


class RememberingEmbedder:
    """Asks the embedder behind it only for texts nobody has asked for lately.

    Nuggets, labels and verdict of one battle look at the same sentences at the same moment: what one
    of them asks for is under way for the others.

    Args:
        inner: computes what is not remembered.
        limit: texts remembered; the ones not asked for longest go first. With 1,024 dimensions, 50,000
            take 200 MB for the vectors and some 50 MB around them.
    """

    def __init__(self, inner: Embedder, limit: int = 50_000) -> None:
        self._inner = inner
        self._limit = limit
        self._rows: OrderedDict[str, asyncio.Future[_Row]] = OrderedDict()
        self._working: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._inner.model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions).

        Raises:
            Exception: whatever the embedder behind it raised, for everybody who asked for one of its
                texts; the next call asks again.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._ask_for(missing)
        wanted = [self._rows[text] for text in texts]
        self._forget_the_oldest(texts)
        # Shielded: a caller that gives up must not take the rows away from the others.
        return np.stack(await asyncio.shield(asyncio.gather(*wanted)))

    def _ask_for(self, texts: list[str]) -> None:
        loop = asyncio.get_running_loop()
        self._rows |= {text: loop.create_future() for text in texts}
        task = asyncio.create_task(self._compute({text: self._rows[text] for text in texts}))
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _compute(self, rows: dict[str, asyncio.Future[_Row]]) -> None:
        try:
            computed = list(zip(rows.values(), await self._inner.embed(list(rows)), strict=True))
        except Exception as error:
            for text, future in rows.items():
                future.set_exception(error)
                future.exception()  # no complaint when everybody has given up
                if self._rows.get(text) is future:
                    del self._rows[text]
            return
        for future, row in computed:
            future.set_result(row.copy())  # a view would keep the rows of its whole call in memory

    def _forget_the_oldest(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._rows.move_to_end(text)
        while len(self._rows) > self._limit:
            self._rows.popitem(last=False)
