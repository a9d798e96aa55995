"""The reply cache: an identical prompt is asked and paid for once.

The key is a hash of model, task, prompt version, messages and parameters (`Prompt.cache_key`), so an
entry is never wrong and never expires. After a crash, a redelivery or a re-run the reply is read from the
cache and not paid for again. Only usable replies are cached.
"""

from typing import Protocol


class ReplyCache(Protocol):
    """Texts by key. Both methods may raise `Unavailable`. A lost entry costs money, never a result.

    A cache that is stored knows which battles use an entry, so that it can be deleted with the last of them.
    """

    async def get(self, key: str, battle_id: str) -> str | None:
        """The text stored under a key, which the battle uses from now on, or None."""

    async def put(self, key: str, value: str, battle_id: str) -> None:
        """Store a text that the battle uses, unless the key already has one."""


class MemoryReplyCache:
    """A reply cache for one process, and for tests."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def get(self, key: str, battle_id: str) -> str | None:  # noqa: ARG002 - nothing is deleted
        """The text stored under a key, or None."""
        return self.entries.get(key)

    async def put(self, key: str, value: str, battle_id: str) -> None:  # noqa: ARG002
        """Store a text unless the key already has one."""
        self.entries.setdefault(key, value)
