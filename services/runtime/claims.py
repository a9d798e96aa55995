"""Claims: of several processes that need the same result, one makes it, and the others wait for it.

    claim ──> look once more whether it is stored ──> make it ──> store it ──> release

After a broker has lost the heartbeats of a message (a new leader of a cluster does not know them), two
processes handle the same message. Without claims both would pay for the replies of its model.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Protocol
from uuid import uuid4

from nuggetstream.domain.failure import Reason
from services.runtime.errors import ModelOutage, Outage, Unavailable

# Seconds that a claim outlives its process: no longer than the broker takes to deliver its messages again.
_LEASE_S = 30.0
_WAIT_S = 10.0
POLL_S = 0.25


class ClaimStore(Protocol):
    """Claims that all processes see. Its methods may raise `Unavailable`."""

    async def take(self, keys: Collection[str], owner: str, seconds: float) -> set[str]:
        """Take or extend claims for so many seconds, and return those keys that no other owner has."""

    async def release(self, keys: Collection[str], owner: str) -> None:
        """Give those claims back that this owner has."""


class Claims:
    """Claims of one process.

    Args:
        store: Where they are; None where no other process makes the same results, so that none are needed.
        lease: Seconds after which a claim that is not extended ends.
        wait: Seconds that a caller waits for another process.
    """

    def __init__(
        self, store: ClaimStore | None = None, *, lease: float = _LEASE_S, wait: float = _WAIT_S
    ) -> None:
        self._store, self._lease, self._wait = store, lease, wait
        self._owner = uuid4().hex

    @asynccontextmanager
    async def held(self, key: str, *, required: bool = True) -> AsyncIterator[bool]:
        """Hold the claim on a key inside the block.

        Args:
            key: What is claimed.
            required: Whether the block must not run without the claim; else it runs when the wait is over.

        Yields:
            Whether another process may have stored the result meanwhile, so that it must be read again.

        Raises:
            Outage: Another process has the claim, and the wait is over; a message then waits as in an outage.
            Unavailable: The store does not answer.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + self._wait
        while True:
            async with self.free([key]) as taken:
                if taken or (not required and clock() >= until):
                    yield self._store is not None
                    return
            if clock() >= until:
                raise Outage(Reason.LLM_UNAVAILABLE, "another process is asking the model for the same reply")
            await asyncio.sleep(POLL_S)

    @asynccontextmanager
    async def free(self, keys: Collection[str]) -> AsyncIterator[set[str]]:
        """Hold the claims on those keys inside the block that no other process holds.

        Raises:
            Unavailable: The store does not answer.
        """
        if self._store is None:
            yield set(keys)
            return
        taken = await self._store.take(keys, self._owner, self._lease)
        extending = asyncio.create_task(self._extend(self._store, taken))
        keep = False
        try:
            yield taken
        except Outage as error:
            # This process may have a reply that is paid for, and stores it when the database is back.
            keep = not isinstance(error, ModelOutage)
            raise
        finally:
            extending.cancel()
            if taken and not keep:
                with suppress(Unavailable):  # they end by themselves
                    await self._store.release(taken, self._owner)

    async def _extend(self, store: ClaimStore, taken: Collection[str]) -> None:
        while taken:
            await asyncio.sleep(self._lease / 3)
            with suppress(Unavailable):
                await store.take(taken, self._owner, self._lease)
