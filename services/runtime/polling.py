"""Doing something again and again until the service stops."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress


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


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Wait for some seconds, or until `stop` is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
