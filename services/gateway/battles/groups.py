"""What arrives in a stream as groups that can be stored together: a commit costs a disk as much for many."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

# What is stored in one transaction; parsing it must not stop other requests for long.
MAX_GROUP = 128
MAX_GROUP_BYTES = 1024 * 1024


class Groups(Generic[T]):
    """Items of a stream in groups: those that have arrived since the group before.

    Reading begins at once, and the stream is read on while a group is handled, until the next group is full.
    A client that sends one item and waits for its result gets groups of one.

    Args:
        items: Items as they arrive.
        size: Returns the size of an item in bytes.
    """

    def __init__(self, items: AsyncIterator[T], size: Callable[[T], int]) -> None:
        self.size = size
        self._items: list[T] = []
        self._bytes = 0
        self._ended = False
        self._changed = asyncio.Condition()
        self._reading = asyncio.create_task(self._read(items))

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        """The groups; what reading raises is raised after the items that arrived before."""
        try:
            while group := await self._take():
                yield group
            await self._reading
        finally:
            self._reading.cancel()

    async def _read(self, items: AsyncIterator[T]) -> None:
        try:
            async for item in items:
                async with self._changed:
                    await self._changed.wait_for(lambda: not self._is_full)
                    self._items.append(item)
                    self._bytes += self.size(item)
                    self._changed.notify_all()
        finally:
            async with self._changed:
                self._ended = True
                self._changed.notify_all()

    async def _take(self) -> list[T]:
        """All items that wait, at least one; none at the end."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._items) or self._ended)
            group, self._items, self._bytes = self._items, [], 0
            self._changed.notify_all()
            return group

    @property
    def _is_full(self) -> bool:
        return len(self._items) >= MAX_GROUP or self._bytes >= MAX_GROUP_BYTES
