"""The progress bar of an evaluation: battles done and failed, rate, and cost so far."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from services.cli.evaluation import Progress

_LINE_EVERY = 10.0


class Meter:
    """A progress bar on a terminal; elsewhere a line every ten seconds.

    Args:
        console: Where to print.
        total: Number of battles to evaluate.
        line_every: Seconds between lines when the output is not a terminal.
    """

    def __init__(self, console: Console, total: int, line_every: float = _LINE_EVERY) -> None:
        self._console, self._line_every = console, line_every
        self._bar = Bar(
            TextColumn("[bold]battles"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]} failed · {task.fields[rate]:.1f}/s · {task.fields[cost]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("battles", total=total, failed=0, rate=0.0, cost="")
        self._began = time.monotonic()
        self._before: int | None = None  # battles of an earlier run, which do not count for the rate
        self._line_at = self._began + line_every

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Show the current progress."""
        ended = progress.done + progress.failed
        if self._before is None:
            self._before = ended
        now = time.monotonic()
        rate = (ended - self._before) / max(now - self._began, 1e-9)
        self._bar.update(self._task, completed=ended, failed=progress.failed, rate=rate, cost=money(progress))
        if not self._console.is_terminal and (now >= self._line_at or ended == progress.total):
            self._line_at = now + self._line_every
            self._console.print(
                f"{ended} of {progress.total} battles, {progress.failed} failed, {rate:.1f}/s, "
                f"{money(progress)}",
                highlight=False,
            )


def money(progress: Progress) -> str:
    """The money spent; "cost unknown" where the price of a call is unknown."""
    if progress.cost is None:
        return "cost unknown"
    amount = f"{progress.cost:.4f}"
    return f"${amount}" if progress.currency == "USD" else f"{amount} {progress.currency}"
