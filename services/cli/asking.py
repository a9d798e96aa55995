"""Work on many items at once that asks a model, and waits while the model is away."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from services.runtime.errors import ModelOutage, StageError
from services.runtime.masking import KNOWN
from services.runtime.runner.outage import through_outages

T = TypeVar("T")
Item = TypeVar("Item")


async def through(
    ask: Callable[[], Awaitable[T]], stop: asyncio.Event, stage: str, tell: Callable[[str], None]
) -> T | StageError | None:
    """What the model gives, or why it gives nothing; None when the run was stopped meanwhile.

    Args:
        ask: Asks the model.
        stop: Ends the waiting.
        stage: Label of the stage in the metrics.
        tell: Is told why the model is away, whenever it was asked in vain.
    """
    answers: list[T] = []

    async def attempt() -> None:
        try:
            answers.append(await ask())
        except ModelOutage as away:
            tell(KNOWN.redact(away.for_operators))
            raise

    try:
        await through_outages(attempt, float, stop, stage)
    except StageError as error:
        return error
    return answers[0] if answers else None


async def for_each(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], stop: asyncio.Event, window: int
) -> None:
    """Work on all items, a window of them at once, until the run is stopped."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            if stop.is_set():
                return
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(window):
            group.create_task(worker())
