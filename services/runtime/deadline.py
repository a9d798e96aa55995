"""The deadline of one attempt, which stands still while the attempt waits for a model.

A model on the processor of a laptop takes minutes for one reply, and the call waits for its turn before. That
is no sign that the attempt hangs; `LLMClient` notices by itself when an endpoint is silent.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self


class Deadline:
    """Ends the block after so many seconds with a `TimeoutError`, like `asyncio.timeout`.

    Args:
        seconds: Seconds that the block may take, without those in which the deadline stands still.
    """

    def __init__(self, seconds: float) -> None:
        self._scope = asyncio.timeout(seconds)
        self._holders = 0
        self._left = 0.0
        self._ended = False
        self._outer: Token[Deadline | None] | None = None

    @property
    def expired(self) -> bool:
        """Whether the block took too long."""
        return self._scope.expired()

    async def __aenter__(self) -> Self:
        """Begin the block."""
        await self._scope.__aenter__()
        self._outer = _current.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the block.

        Raises:
            TimeoutError: It took too long.
        """
        self._ended = True
        if self._outer is not None:
            _current.reset(self._outer)
        await self._scope.__aexit__(kind, error, trace)

    def hold(self) -> None:
        """Let the deadline stand still until `release` was called as often as `hold`."""
        self._holders += 1
        when = self._scope.when()
        if self._holders == 1 and when is not None and self._runs:
            self._left = when - asyncio.get_running_loop().time()
            self._scope.reschedule(None)

    def release(self) -> None:
        """Undo one `hold`."""
        self._holders -= 1
        if self._holders == 0 and self._runs:
            self._scope.reschedule(asyncio.get_running_loop().time() + self._left)

    @property
    def _runs(self) -> bool:
        return not (self._ended or self._scope.expired())


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def held() -> Iterator[None]:
    """Let the deadline of the current attempt stand still inside the block, if there is one.

    Tasks that the attempt started count as the attempt. Where several of them hold the deadline, it continues
    after the last.
    """
    deadline = _current.get()
    if deadline is None:
        yield
        return
    deadline.hold()
    try:
        yield
    finally:
        deadline.release()
