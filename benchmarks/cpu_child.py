"""Run `nuggetstream eval` in this process and write down what its processor time went into.

    python -m benchmarks.cpu_child REPORT.json eval FILE --out FOLDER

Every step of the event loop is measured and counts for the stage whose message it works on, as log lines name
it. Steps that work on no message (the HTTP server, connections to the broker, group commits) count for the
package that the step runs. What the main thread does besides (imports, start and end) and what other threads
do are parts of their own, so the parts add up to the processor time of the process.
"""

import json
import resource
import sys
import time
from asyncio import events
from collections import Counter
from pathlib import Path
from typing import Any

from structlog.contextvars import get_contextvars

_ROOT = str(Path(__file__).parents[1]) + "/"
_STDLIB = str(Path(json.__file__).parents[1]) + "/"
OUTSIDE, THREADS = "outside the event loop", "other threads"


class StepTimes:
    """Processor seconds of the event loop, by stage or package."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def measured(self, run: Any) -> Any:
        """A replacement of `Handle._run`, which runs one step."""

        def timed(handle: events.Handle) -> None:
            label, began = label_of(handle), time.thread_time()
            run(handle)
            self.seconds[label] += time.thread_time() - began

        return timed


def label_of(handle: Any) -> str:
    """The stage that a step works for, or the package whose code it runs."""
    stage = handle._context.run(get_contextvars).get("stage")
    if stage is not None:
        return f"stage {stage}"
    task = getattr(handle._callback, "__self__", None)
    coroutine = getattr(task, "get_coro", lambda: None)()
    code = getattr(coroutine, "cr_code", None) or getattr(handle._callback, "__code__", None)
    return "event loop" if code is None else package_of(code.co_filename)


def package_of(path: str) -> str:
    """The package of a source file: ours with its room, such as "services.gateway".

    >>> package_of("/x/site-packages/nats/aio/client.py")
    'nats'
    """
    if path.startswith(_ROOT) and "site-packages" not in path:
        return ".".join(path.removeprefix(_ROOT).removesuffix(".py").split("/")[:2])
    if "site-packages/" in path:
        return path.partition("site-packages/")[2].partition("/")[0]
    return "event loop"


def main() -> None:
    from services.cli.main import main as command

    report, *sys.argv[1:] = sys.argv[1:]
    times = StepTimes()
    events.Handle._run = times.measured(events.Handle._run)  # type: ignore[method-assign]
    try:
        command()
    finally:
        own, broker = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        used, main_thread = own.ru_utime + own.ru_stime, time.thread_time()
        besides = {OUTSIDE: main_thread - times.seconds.total(), THREADS: used - main_thread}
        numbers = {
            "own": used,
            "broker": broker.ru_utime + broker.ru_stime,
            "peak_mb": own.ru_maxrss / 1024,
            "parts": dict(times.seconds) | besides,
        }
        Path(report).write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()
