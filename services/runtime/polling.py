"""Doing something again and again until the service stops."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import nats.errors
import structlog

from services.runtime.errors import Unavailable

log = structlog.get_logger(__name__)


async def repeat(action: Callable[[], Awaitable[object]], seconds: float, stop: asyncio.Event) -> None:
    """Run an action at once and then after every pause, until `stop` is set.

    Args:
        action: What to run; an error that it raises ends the repetition.
        seconds: Length of a pause, which `stop` cuts short.
        stop: Ends the repetition.
    """
    while not stop.is_set():
        await action()
        await pause(seconds, stop)


async def keep_at(
    action: Callable[[], Awaitable[object]], seconds: float, stop: asyncio.Event, warning: str
) -> None:
    """As `repeat`, also while the database or the broker is away, of which the log warns.

    Args:
        action: What to run.
        seconds: Length of a pause, which `stop` cuts short.
        stop: Ends the repetition.
        warning: What the log says each time that the action meets an outage.
    """

    async def attempt() -> None:
        try:
            await action()
        except (Unavailable, nats.errors.Error, TimeoutError) as error:
            log.warning(warning, why=error.for_operators if isinstance(error, Unavailable) else str(error))

    await repeat(attempt, seconds, stop)


async def pause(seconds: float, until: asyncio.Event) -> None:
    """Wait for some seconds, or until an event is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):  # unlike wait_for, it never swallows a cancellation
            await until.wait()


async def ended_before(stop: asyncio.Event, work: Awaitable[object]) -> bool:
    """Wait until some work has ended, or cancel it when `stop` is set.

    Args:
        stop: Cancels the work.
        work: What is waited for; an error that it raises is raised here.

    Returns:
        Whether the work has ended.
    """
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        await working
        return True
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
