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
_EXIT_SIGNAL = 128  # added to the number of the signal
_SHOW_CURSOR = b"\x1b[?25h"
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
_TURN_S = 0.001


Main = Callable[[asyncio.Event], Coroutine[Any, Any, int | None]]


def log_stopping(number: signal.Signals, grace: float) -> None:
    """Log that a signal stops the program."""
    log.info("stopping", signal=number.name, grace=grace)


async def run_until_signal(
    main: Main, *, grace: float = 25.0, on_stop: Callable[[signal.Signals, float], None] = log_stopping
) -> int:
    """Run a program and drain it on SIGTERM or Ctrl-C.

    A second signal ends the process at once with code 128 + signal.

    Args:
        main: The program; it must return soon after the event passed to it is set. It returns its exit code
            or, for 0, None.
        grace: Seconds from the signal until what still runs is cancelled. It should be below the time after
            which the supervisor kills (Kubernetes: terminationGracePeriodSeconds, 30) and above the
            runners' own grace. With 0 the program is cancelled at once and need not look at the event.
        on_stop: Tells at the first signal that the program stops; it gets the signal and the grace.

    Returns:
        The exit code of the program; 1 when it did not finish within the grace period, and 128 + signal when
        there was none.

    Raises:
        Exception: Any error that `main` raises.
    """
    take_short_turns()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    code = 0

    def on_signal(number: signal.Signals) -> None:
        nonlocal code
        code = _EXIT_SIGNAL + number
        if stop.is_set():
            if sys.stderr.isatty():  # where a progress bar may have hidden it
                os.write(sys.stderr.fileno(), _SHOW_CURSOR)
            os._exit(code)
        on_stop(number, grace)
        stop.set()

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        ended = await _run(main(stop), stop, grace)
        return code if ended is None else ended
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


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


async def _run(program: Coroutine[Any, Any, int | None], stop: asyncio.Event, grace: float) -> int | None:
    """The exit code of the program; None where it was cancelled at once."""
    task = asyncio.ensure_future(program)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=grace)
        if task.done():
            return task.result() or 0
        if not grace:
            return None
        log.error("not finished within the grace period, cancelling", grace=grace)
        return _EXIT_GRACE_EXCEEDED
    finally:
        stopping.cancel()
        task.cancel()
        await asyncio.gather(task, stopping, return_exceptions=True)
