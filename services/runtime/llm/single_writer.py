"""One caller at a time per key, within this process and among all processes that ask the same model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from services.runtime.llm.claims import Claims


class SingleWriter:
    """Lets one caller work on a key, so that two callers do not pay the model for the same.

    Args:
        claims: Claims that other processes see; none where no other process asks the same model.
    """

    def __init__(self, claims: Claims | None = None) -> None:
        self._claims = claims or Claims()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """Hold the key inside the block.

        Raises:
            Outage: Another process has held it for longer than a claim waits.
            Unavailable: The claims cannot be read.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock, self._claims.held(key):
            yield
