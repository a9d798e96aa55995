"""From start to signal to exit: SIGTERM and Ctrl-C mean drain, a second one means now."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LATE = 1


async def run_until_signal(
    main: Callable[[asyncio.Event], Coroutine[Any, Any, None]], *, grace: float = 25.0
) -> int:
    """Run a program that ends in good order when asked to.

    Args:
        main: the program; it returns soon after the event it is given is set.
        grace: seconds from the signal until what still runs is cancelled. Keep it below the time
            after which the supervisor kills (Kubernetes: terminationGracePeriodSeconds, 30) and
            above the runners' own grace.

    Returns:
        The exit code: 0, or 1 when the grace was not enough.

    Raises:
        Whatever `main` raises. A second signal ends the process on the spot with code 128 + signal.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def heard(number: signal.Signals) -> None:
        if stop.is_set():
            os._exit(128 + number)
        log.info("stopping", signal=number.name, grace=grace)
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, heard, number)
    try:
        return await _run(main(stop), stop, grace)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _run(program: Coroutine[Any, Any, None], stop: asyncio.Event, grace: float) -> int:
    task = asyncio.ensure_future(program)
    asked = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=grace)
        if task.done():
            task.result()
            return 0
        log.error("not finished within the grace period, cancelling", grace=grace)
        return _LATE
    finally:
        asked.cancel()
        task.cancel()
        await asyncio.gather(task, asked, return_exceptions=True)
