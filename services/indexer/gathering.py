"""Texts of many callers that wait for a model, and the batches that are made of them.

A model computes a batch as if all its texts were as long as the longest, so a batch has texts of like length,
whoever sent them. Every batch contains the text that has waited longest; queries, for which a caller waits,
go before the texts of pages.
"""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from services.runtime import work
from services.runtime.embedding import Vectors, stacked
from services.runtime.llm.prices import estimate_tokens
from services.runtime.work import Work

Row = NDArray[np.float32]
URGENT: ContextVar[bool] = ContextVar("urgent", default=False)
"""True in a task whose texts go before those of other tasks."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The largest batch.

    Attributes:
        texts: Number of texts.
        tokens: Number of tokens, if all texts were as long as the longest; None for any number. A longer text
            is a batch by itself.
    """

    texts: int
    tokens: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """One text that waits for its vector.

    Attributes:
        text: The text, or its beginning where an endpoint rejected the whole as too long.
        tokens: Estimated number of its tokens.
        subject: What it is embedded for; None where that is unknown.
        row: Gets the vector, of shape (dimensions,).
        urgent: Whether it goes before texts that are not.
        whole: The whole text, where `text` is only its beginning.
    """

    text: str
    tokens: int
    subject: Work | None
    row: "asyncio.Future[Row]"
    urgent: bool = False
    whole: str | None = None

    def cut(self, beginning: str) -> "Waiting":
        """The same with only the beginning of the text."""
        whole = self.whole or self.text
        return replace(self, text=beginning, tokens=estimate_tokens(beginning), whole=whole)

    def fail(self, error: Exception) -> None:
        """Raise the error for the caller, unless the caller is gone."""
        if not self.row.done():
            self.row.set_exception(error)


class Gathering:
    """The texts that wait, in order of arrival, the urgent ones first."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []

    def add(self, texts: Sequence[str]) -> list[Waiting]:
        """Let texts wait, for the battle that the current task works on."""
        subject, loop, urgent = work.current(), asyncio.get_running_loop(), URGENT.get()
        added = [
            Waiting(
                text=text,
                tokens=estimate_tokens(text),
                subject=subject,
                row=loop.create_future(),
                urgent=urgent,
            )
            for text in texts
        ]
        before = sum(text.urgent for text in self._waiting) if urgent else len(self._waiting)
        self._waiting[before:before] = added
        return added

    def take(self, limits: BatchLimits) -> list[Waiting]:
        """The next batch: the first text, and those of the most similar length.

        Returns:
            The batch by ascending length; empty when no text waits.
        """
        self._waiting = [text for text in self._waiting if not text.row.done()]  # others were cancelled
        if not self._waiting:
            return []
        first, longest, batch = self._waiting[0], 0, list[Waiting]()
        for text in sorted(self._waiting, key=lambda text: abs(text.tokens - first.tokens)):
            most = max(longest, text.tokens)
            if len(batch) < limits.texts and (not batch or _fits(most, len(batch) + 1, limits)):
                batch.append(text)
                longest = most
        batch.sort(key=lambda text: text.tokens)
        taken = set(map(id, batch))
        self._waiting = [text for text in self._waiting if id(text) not in taken]
        return batch


def _fits(longest: int, texts: int, limits: BatchLimits) -> bool:
    return limits.tokens is None or longest * texts <= limits.tokens


def answer(batch: Sequence[Waiting], rows: Vectors) -> None:
    """Give each text its vector.

    Args:
        batch: The texts.
        rows: Their vectors, of shape (len(batch), dimensions).
    """
    for text, row in zip(batch, rows, strict=True):
        if not text.row.done():
            text.row.set_result(row)


async def rows_of(added: Sequence[Waiting]) -> Vectors:
    """The vectors of texts that wait, of shape (len(added), dimensions), once all are computed.

    Raises:
        Exception: The error of the first text that failed.
    """
    return stacked(await asyncio.gather(*(text.row for text in added)))
