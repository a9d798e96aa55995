"""Run `nuggetstream up` in this process and write down the longest steps of its event loop.

    python -m benchmarks.intake_child REPORT.json up --data-dir FOLDER

While a step runs, no other request is answered. The processor time of a step does not depend on other work on
the machine; its time by the clock does. Steps count once the platform has started.
"""

import json
import sys
import time
from asyncio import events
from pathlib import Path
from typing import Any


class Steps:
    """The longest steps so far."""

    def __init__(self) -> None:
        self.wall, self.cpu, self.step = 0.0, 0.0, ""

    def measured(self, run: Any) -> Any:
        """A replacement of `Handle._run`, which runs one step."""

        def timed(handle: events.Handle) -> None:
            wall, cpu = time.perf_counter(), time.thread_time()
            run(handle)
            self.wall = max(self.wall, time.perf_counter() - wall)
            used = time.thread_time() - cpu
            if used > self.cpu:
                self.cpu, self.step = used, _name(handle)

        return timed


def _name(handle: Any) -> str:
    """The coroutine or function that a step ran."""
    task = getattr(handle._callback, "__self__", None)
    coroutine = getattr(task, "get_coro", lambda: None)()
    return str(getattr(coroutine, "__qualname__", None) or handle._callback)[:100]


def main() -> None:
    import click

    from services.cli.main import main as command

    report, *sys.argv[1:] = sys.argv[1:]
    steps, run, echo = Steps(), events.Handle._run, click.echo

    def started(*args: Any, **options: Any) -> None:
        """Count steps from the banner on: what is imported at the start stops nobody."""
        echo(*args, **options)
        events.Handle._run = steps.measured(run)  # type: ignore[method-assign]

    click.echo = started
    try:
        command()
    finally:
        numbers = {"wall": steps.wall, "cpu": steps.cpu, "step": steps.step}
        Path(report).write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()
