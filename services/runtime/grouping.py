"""Group commit: items that arrive while others are being handled are handled together next.

    item ─┐                                            ┌─> result
    item ─┼─> waiting ──(the group before is done)──> handle ─> result
    item ─┘                                            └─> result

An item that arrives alone is handled alone and at once. The busier the process is, the larger the groups are,
and the less each item costs.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Generic, TypeVar

from opentelemetry import trace
from opentelemetry.trace import Span

from services.runtime import tracing
from services.runtime.errors import Outage

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    result: asyncio.Future[Result]
    span: Span


class Grouping(Generic[Item, Result]):
    """Handles items in groups, one group after another.

    When a group fails, its items are handled one by one, so that a bad item does not fail its neighbours. An
    `Outage` fails the whole group, because every item would meet it.

    Args:
        handle: Handles several items, all or none, and returns their results in order. It is not cancelled
            when a caller is.
        limit: Most items in one group.
        pause: Seconds that a group waits for more items where the group before it had several. Each group
            has costs of its own, such as a commit; the pause makes groups larger while the process is busy.
    """

    def __init__(
        self,
        handle: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        limit: int,
        pause: float = 0.0,
    ) -> None:
        self._handle = handle
        self._limit = limit
        self._pause = pause
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        """The result of one item. An item whose caller is cancelled before its turn is not handled.

        Raises:
            Exception: What `handle` raises for a group of this item alone, or an `Outage` of its group.
        """
        waiting: _Waiting[Item, Result] = _Waiting(
            item, asyncio.get_running_loop().create_future(), trace.get_current_span()
        )
        self._waiting.append(waiting)
        if self._running is None or self._running.done():
            # In a context of its own: a group does not belong to the battle of its first item.
            self._running = asyncio.get_running_loop().create_task(self._run(), context=Context())
        return await waiting.result

    async def _run(self) -> None:
        while group := self._next():
            await self._together(group)
            if self._pause and len(group) > 1 and len(self._waiting) < self._limit:
                await asyncio.sleep(self._pause)

    def _next(self) -> list[_Waiting[Item, Result]]:
        group: list[_Waiting[Item, Result]] = []
        while self._waiting and len(group) < self._limit:
            waiting = self._waiting.popleft()
            if not waiting.result.done():
                group.append(waiting)
        return group

    async def _together(self, group: Sequence[_Waiting[Item, Result]]) -> None:
        try:
            with tracing.shared([waiting.span for waiting in group]):
                results = await self._handle([waiting.item for waiting in group])
        except Exception as error:
            if isinstance(error, Outage) or len(group) == 1:
                _fail(group, error)
                return
            for waiting in group:
                await self._together([waiting])
        else:
            for waiting, result in zip(group, results, strict=True):
                if not waiting.result.done():
                    waiting.result.set_result(result)


def _fail(group: Sequence[_Waiting[Item, Result]], error: Exception) -> None:
    for waiting in group:
        if not waiting.result.done():
            waiting.result.set_exception(error)
