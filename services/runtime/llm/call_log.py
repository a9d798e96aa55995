"""The log of model calls: what was asked, what came back, and what it cost.

    an attempt, or a reply without a call ──> memory ──(twice a second)──> the store

Calls are written together and never while a battle waits for them, so the log costs no round trip per call.
What a process that is killed had in memory is lost: the last half second of the log, but nothing of the
accounts, which are booked call by call.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import structlog

from services.runtime import polling
from services.runtime.errors import Unavailable
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prompt import Message

log = structlog.get_logger(__name__)

_PAUSE_S = 0.5
_RETRY_S = 5.0  # while the database is away
_MOST = 2000  # calls in memory; while the database is away, later ones are not logged


class Outcome(StrEnum):
    """What became of a call."""

    ANSWERED = "answered"
    UNUSABLE = "unusable"  # answered, but the reply has not the required form
    REFUSED = "refused"  # by the model
    FILTERED = "filtered"  # by the provider's content filter
    FAILED = "failed"  # no reply
    CANCELLED = "cancelled"  # the caller stopped waiting, for instance at the end of its deadline
    CACHED = "cached"  # no call: the reply was stored
    SHARED = "shared"  # no call: another battle or process was asking the same


@dataclass(slots=True)
class ModelCall:
    """One attempt to get a reply, or one reply that needed no call.

    Attributes:
        battle_id: Battle that it was made for.
        stage: Stage as in the accounts.
        evaluator: Name of the judge or evaluator; None for other stages and for a single judge.
        task: Task of the prompt.
        model: Model that was asked.
        endpoint: Host and port of the endpoint; None where there was no call.
        key: Key of the prompt in the reply cache.
        repair: Whether it is the second request, which says why the first reply could not be used.
        attempt: Number of the attempt, from 1.
        at: When it began.
        seconds: How long it took; None where there was no call.
        outcome: What became of it.
        entry: Tokens and cost; None where nothing was charged.
        reply: The reply as it was written, where it is not in the reply cache.
        detail: Why there is no usable reply.
        messages: The prompt.
        texts: Returns texts that are recorded with the battle and may be parts of the prompt.
    """

    battle_id: str
    stage: str
    evaluator: str | None
    task: str
    model: str
    endpoint: str | None
    key: str
    repair: bool
    attempt: int
    at: datetime
    seconds: float | None
    outcome: Outcome
    entry: Entry | None
    reply: str | None
    detail: str | None
    messages: Sequence[Message]
    texts: Callable[[], list[str]] | None


class CallStore(Protocol):
    """Stores calls."""

    async def add(self, calls: Sequence[ModelCall]) -> None:
        """Store calls, all or none."""


class CallLog:
    """Writes the calls of one process.

    Args:
        store: Where they are written; None: nowhere.
    """

    def __init__(self, store: CallStore | None = None) -> None:
        self._store = store
        self._waiting: list[ModelCall] = []
        self._writer: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @property
    def is_on(self) -> bool:
        """Whether calls are logged."""
        return self._store is not None

    def add(self, calls: Sequence[ModelCall]) -> None:
        """Log calls that are over."""
        if self._store is None or not calls:
            return
        if len(self._waiting) >= _MOST:
            log.warning("model calls are not logged while the database is away", calls=len(calls))
            return
        self._waiting.extend(calls)
        if self._writer is None or self._writer.done():
            # In a context of its own: the writer does not belong to the battle of its first call.
            self._writer = asyncio.get_running_loop().create_task(self._write(self._store), context=Context())

    async def close(self) -> None:
        """Write what is in memory, unless the database is away."""
        self._closing.set()
        if self._writer is not None:
            await self._writer

    async def _write(self, store: CallStore) -> None:
        pause = _PAUSE_S
        while self._waiting:
            await polling.pause(pause, self._closing)
            calls, self._waiting = self._waiting, []
            try:
                await store.add(calls)
                pause = _PAUSE_S
            except Unavailable as error:
                if self._closing.is_set():
                    log.warning("model calls are not logged", calls=len(calls), why=error.detail)
                    return
                self._waiting, pause = [*calls, *self._waiting], _RETRY_S
