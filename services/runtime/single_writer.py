"""One caller at a time per key, within this process and among all processes that ask the same model.

turn ──> read ──> nothing stored ──> wait for the turn ──> read again, if others may have stored it ──> ask
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from services.runtime.claims import Claims


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Key:
    """What the callers of one key share: a lock, and how often it was released."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    releases: int = 0


class Turn:
    """The turn of one caller at a key. Get it before reading what is stored under the key.

    Args:
        name: The key.
        key: What the callers of the key share.
        claims: Claims that other processes see.
    """

    def __init__(self, name: str, key: _Key, claims: Claims) -> None:
        self._name, self._key, self._claims = name, key, claims
        self._releases = key.releases

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[bool]:
        """Hold the key inside the block.

        Yields:
            Whether another caller may have held the key since this turn was made, so that what was read
            then must be read again.

        Raises:
            Outage: Another process has held it for longer than a claim waits.
            Unavailable: The claims cannot be read.
        """
        async with self._key.lock:
            try:
                async with self._claims.held(self._name) as shared:
                    yield shared or self._key.releases != self._releases
            finally:
                self._key.releases += 1


class SingleWriter:
    """Lets one caller work on a key, so that two callers do not pay the model for the same.

    Args:
        claims: Claims that other processes see; none where no other process asks the same model.
    """

    def __init__(self, claims: Claims | None = None) -> None:
        self._claims = claims or Claims()
        self._keys: WeakValueDictionary[str, _Key] = WeakValueDictionary()

    def turn(self, key: str) -> Turn:
        """A turn at a key, which is not taken yet."""
        return Turn(key, self._keys.setdefault(key, _Key()), self._claims)
