"""Run a program until a signal: the first SIGTERM or Ctrl-C drains it, the second ends it at once."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_EXIT_GRACE_EXCEEDED = 1
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
_TURN_S = 0.001


async def run_until_signal(
    main: Callable[[asyncio.Event], Coroutine[Any, Any, None]], *, grace: float = 25.0
) -> int:
    """Run a program and drain it on SIGTERM or Ctrl-C.

    A second signal ends the process at once with code 128 + signal.

    Args:
        main: The program; it must return soon after the event passed to it is set.
        grace: Seconds from the signal until what still runs is cancelled. It should be below the time after
            which the supervisor kills (Kubernetes: terminationGracePeriodSeconds, 30) and above the
            runners' own grace.

    Returns:
        The exit code: 0, or 1 when the program did not finish within the grace period.

    Raises:
        Exception: Any error that `main` raises.
    """
    take_short_turns()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            os._exit(128 + number)
        log.info("stopping", signal=number.name, grace=grace)
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        return await _run(main(stop), stop, grace)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def started() -> None:
    """Exempt everything that was made so far from garbage collection: modules and classes stay for good.

    A full collection that examines them stops the event loop for a fifth of a second. What battles in flight
    need is alive for seconds, and a collection every 700 objects examines it again and again: it took a
    twentieth of the processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 10, 10)


def take_short_turns() -> None:
    """Let threads that run Python code take turns of a millisecond, in place of five.

    Every step of a search waits for its turn when another thread runs Python code, for instance to index
    chunks, and so does the event loop: a search of two threads took half as long with shorter turns.
    """
    sys.setswitchinterval(_TURN_S)


async def _run(program: Coroutine[Any, Any, None], stop: asyncio.Event, grace: float) -> int:
    task = asyncio.ensure_future(program)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=grace)
        if task.done():
            task.result()
            return 0
        log.error("not finished within the grace period, cancelling", grace=grace)
        return _EXIT_GRACE_EXCEEDED
    finally:
        stopping.cancel()
        task.cancel()
        await asyncio.gather(task, stopping, return_exceptions=True)
