"""The interface of a loaded embedding model in this process, whichever library computes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.runtime.embedding import Vectors


@dataclass(frozen=True, slots=True)
class BatchSize:
    """The most that is computed at once.

    Attributes:
        texts: Number of texts.
        tokens: Number of tokens, if all texts are padded to the longest.
    """

    texts: int
    tokens: int


# On a processor more texts only add padding, other devices need more to be busy.
ON_PROCESSOR, ON_DEVICE = BatchSize(32, 1024), BatchSize(256, 32_768)


class Encoder(Protocol):
    """Computes vectors of texts, in one thread at a time."""

    @property
    def limit(self) -> int | None:
        """The most tokens of a text that are read; None without a limit."""

    @property
    def largest(self) -> BatchSize:
        """The largest batch that is worth it."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, those beyond the limit included."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions) of any length, computed as one batch."""
