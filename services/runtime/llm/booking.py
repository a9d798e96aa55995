"""Entries that wait to be stored: each is stored once, also where the caller is cancelled meanwhile."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.runtime.errors import Unavailable

Entry = TypeVar("Entry")


class Unbooked(Generic[Entry]):
    """Entries in memory that are not stored yet.

    Args:
        add: Stores one entry.
    """

    def __init__(self, add: Callable[[Entry], Awaitable[None]]) -> None:
        self._store = add
        self._entries: deque[Entry] = deque()
        self._left: set[asyncio.Task[None]] = set()  # bookings that go on after their caller was cancelled

    def __len__(self) -> int:
        """Number of entries that nobody stores now."""
        return len(self._entries)

    def append(self, entry: Entry) -> None:
        """Keep an entry until the next `flush`."""
        self._entries.append(entry)

    async def flush(self) -> None:
        """Store all entries.

        What has begun goes on when the caller is cancelled, and the next caller waits for it: the store may
        commit it nevertheless, and repeating it would store it twice.

        Raises:
            Unavailable: The store cannot be written now; the entries stay in memory.
        """
        while (left := self._going_on()) or self._entries:
            booking = left or asyncio.create_task(self._add(self._entries.popleft()))
            try:
                await asyncio.shield(booking)
            except asyncio.CancelledError:
                self._left.add(booking)
                booking.add_done_callback(self._left.discard)
                raise

    def _going_on(self) -> asyncio.Task[None] | None:
        return next((booking for booking in self._left if not booking.done()), None)

    async def _add(self, entry: Entry) -> None:
        try:
            await self._store(entry)
        except (Unavailable, asyncio.CancelledError):
            self._entries.appendleft(entry)
            raise
