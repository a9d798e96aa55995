"""The progress bar of an evaluation: battles done, model calls, rate, and cost so far."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from services.cli.evaluation.run import Progress

_LINE_EVERY = 10.0
_UNCHANGED = 6  # times as long between lines that say the same
_SLOW = 0.1  # battles per second, below which the rate is shown per minute


class Meter:
    """A progress bar on a terminal; elsewhere a line every ten seconds, every minute while nothing changes.

    Args:
        console: Where to print.
        total: Number of battles to evaluate.
        line_every: Seconds between lines when the output is not a terminal.
        clock: Monotonic time in seconds.
        unit: What is evaluated, as a plural.
        result: What each gets, as a plural.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        *,
        line_every: float = _LINE_EVERY,
        clock: Callable[[], float] = time.monotonic,
        unit: str = "battles",
        result: str = "scores",
    ) -> None:
        self._console, self._line_every, self._clock = console, line_every, clock
        self._unit, self._result = unit, result
        self._bar = Bar(
            TextColumn(f"[bold]{unit}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(unit, total=total, state="")
        self._began = clock()
        self._before: int | None = None  # battles of an earlier run, which do not count for the rate
        self._line_at = self._began + line_every
        self._shown: Progress | None = None  # in the last line

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
        now = self._clock()
        rate = _rate((ended - self._before) / max(now - self._began, 1e-9))
        missing = f"{progress.failed} without {self._result}" if progress.failed else ""
        state = list(filter(None, (missing, _calls(progress.calls), rate, money(progress))))
        self._bar.update(self._task, completed=ended, state=" · ".join(state))
        if not self._console.is_terminal and self._is_due(progress, now):
            self._line_at, self._shown = now + self._line_every, progress
            line = ", ".join([f"{ended} of {progress.total} {self._unit}", *state])
            self._console.print(line, highlight=False, soft_wrap=True)

    def _is_due(self, progress: Progress, now: float) -> bool:
        if progress.done + progress.failed == progress.total:
            return True
        rest = 0 if progress != self._shown else (_UNCHANGED - 1) * self._line_every
        return now >= self._line_at + rest


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _rate(per_second: float) -> str:
    """Battles per second, or per minute where they are few; empty where there are none.

    >>> _rate(2.25), _rate(0.02), _rate(0)
    ('2.2/s', '1.2/min', '')
    """
    if not per_second:
        return ""
    return f"{per_second:.1f}/s" if per_second >= _SLOW else f"{60 * per_second:.1f}/min"


def money(progress: Progress) -> str:
    """The money spent, if any; "cost unknown" where the price of a call is unknown."""
    if progress.cost is None:
        return "cost unknown"
    if not progress.cost:
        return ""
    amount = f"{progress.cost:.4f}"
    return f"${amount}" if progress.currency == "USD" else f"{amount} {progress.currency}"
