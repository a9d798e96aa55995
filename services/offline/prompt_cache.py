"""A provider's prompt cache, simulated: how many tokens of a prompt began an earlier prompt."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator

MINIMUM = 1024  # tokens; shorter prefixes are not cached
STEP = 128  # tokens by which a cached prefix grows
_BYTES = 4  # per token, as tokens are estimated
_REMEMBERED = 200_000  # prefixes


class PromptCache:
    """Remembers the beginnings of prompts, in the steps in which providers do."""

    def __init__(self) -> None:
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()

    def cached(self, prompt: str) -> int:
        """Tokens at the beginning of a prompt that an earlier prompt began with too.

        >>> cache = PromptCache()
        >>> cache.add("word " * 1000)
        >>> cache.cached("word " * 2000), cache.cached("other")
        (1152, 0)
        """
        begun = 0
        for tokens, prefix in _prefixes(prompt):
            if prefix not in self._prefixes:
                break
            self._prefixes.move_to_end(prefix)
            begun = tokens
        return begun

    def add(self, prompt: str) -> None:
        """Remember a prompt; the prefixes that were used least recently are forgotten."""
        for _, prefix in _prefixes(prompt):
            self._prefixes[prefix] = None
            self._prefixes.move_to_end(prefix)
        while len(self._prefixes) > _REMEMBERED:
            self._prefixes.popitem(last=False)


def _prefixes(prompt: str) -> Iterator[tuple[int, bytes]]:
    """The lengths in tokens at which a prefix is cached, and the hash of the prefix."""
    text, digest, read = prompt.encode(), hashlib.blake2b(digest_size=16), 0
    for tokens in range(MINIMUM, len(text) // _BYTES + 1, STEP):
        digest.update(text[read : tokens * _BYTES])
        read = tokens * _BYTES
        yield tokens, digest.digest()
