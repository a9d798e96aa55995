"""Claims: of several processes that need the same reply, one asks the model, and the others wait for it.

    claim ──> read the cache once more ──> ask ──> write to the cache ──> release

After a broker has lost the heartbeats of a message (a new leader of a cluster does not know them), two
processes handle the same message. Without claims both would pay for its replies.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Protocol
from uuid import uuid4

from nuggetstream.domain.failure import Reason
from services.runtime.errors import ModelOutage, Outage, Unavailable

# Seconds that a claim outlives its process: no longer than the broker takes to deliver its messages again.
_LEASE_S = 30.0
_WAIT_S = 10.0
_POLL_S = 0.25


class ClaimStore(Protocol):
    """Claims that all processes see. Its methods may raise `Unavailable`."""

    async def take(self, key: str, owner: str, seconds: float) -> bool:
        """Take a claim for so many seconds, or extend one's own; False while another owner has it."""

    async def release(self, key: str, owner: str) -> None:
        """Give a claim back, if this owner has it."""


class Claims:
    """Claims of one process.

    Args:
        store: Where they are; None where no other process asks the same model, so that none are needed.
        lease: Seconds after which a claim that is not extended ends.
        wait: Seconds that a caller waits for another process before it raises an `Outage`; its
            message then waits as in an outage.
    """

    def __init__(
        self, store: ClaimStore | None = None, *, lease: float = _LEASE_S, wait: float = _WAIT_S
    ) -> None:
        self._store, self._lease, self._wait = store, lease, wait
        self._owner = uuid4().hex

    @asynccontextmanager
    async def held(self, key: str) -> AsyncIterator[bool]:
        """Hold the claim on a key inside the block.

        Yields:
            Whether another process may have stored the reply meanwhile, so that it must be read again.

        Raises:
            Outage: Another process asks for the reply and has not got it yet.
            Unavailable: The store does not answer.
        """
        if self._store is None:
            yield False
            return
        await self._take(self._store, key)
        extending = asyncio.create_task(self._extend(self._store, key))
        keep = False
        try:
            yield True
        except Outage as error:
            # This process may have a reply that is paid for, and stores it when the database is back.
            keep = not isinstance(error, ModelOutage)
            raise
        finally:
            extending.cancel()
            if not keep:
                with suppress(Unavailable):  # it ends by itself
                    await self._store.release(key, self._owner)

    async def _take(self, store: ClaimStore, key: str) -> None:
        try:
            async with asyncio.timeout(self._wait):
                while not await store.take(key, self._owner, self._lease):
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            detail = "another process is asking the model for the same reply"
            raise Outage(Reason.LLM_UNAVAILABLE, detail) from None

    async def _extend(self, store: ClaimStore, key: str) -> None:
        while True:
            await asyncio.sleep(self._lease / 3)
            with suppress(Unavailable):
                await store.take(key, self._owner, self._lease)
