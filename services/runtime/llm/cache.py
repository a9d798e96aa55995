"""The reply cache: an identical prompt is asked and paid for once.

The key is a hash of model, task, prompt version, messages and parameters (`Prompt.cache_key`), so an
entry is never wrong and never expires: a crash, a redelivery or a re-run reads it again. Only usable
replies are kept; asking again after an unusable one is the point of asking again.
"""

from typing import Protocol


class ReplyCache(Protocol):
    """Texts by key. Both calls may raise `Unavailable`; a lost entry costs money, never an answer."""

    async def get(self, key: str) -> str | None:
        """The text kept under a key, or None."""

    async def put(self, key: str, value: str) -> None:
        """Keeps a text; the first one under a key stays."""


class MemoryReplyCache:
    """A cache for one process and its tests."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        """The text kept under a key, or None."""
        return self.entries.get(key)

    async def put(self, key: str, value: str) -> None:
        """Keeps a text; the first one under a key stays."""
        self.entries.setdefault(key, value)
