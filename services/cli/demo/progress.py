"""What the demo is doing: one line that is updated on a terminal, and elsewhere a few lines."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console

if TYPE_CHECKING:
    from services.cli.evaluation.run import Progress

_LINE_EVERY = 20.0  # seconds, where the output is no terminal


class ProgressLine:
    """Shows the first line at once, and then what is being done.

    Args:
        first: The first line.
        console: Where to print.
    """

    def __init__(self, first: str, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._first = first
        self._status = self.console.status("Loading the platform")
        self._began = time.monotonic()
        self._shown: tuple[int, float] | None = None  # battles ended, and when that was printed

    def __enter__(self) -> Self:
        self.console.print(self._first, soft_wrap=True)
        if self.console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the line that is updated."""
        self._status.stop()

    def phase(self, text: str) -> None:
        """Show what is being done now; only on a terminal."""
        self._status.update(text)

    def battles(self, progress: "Progress") -> None:
        """Show how many battles have ended."""
        ended = progress.done + progress.failed
        failed = f", {progress.failed} failed" if progress.failed else ""
        text = f"{progress.total} battles: {ended} ended{failed}"
        now = time.monotonic()
        doing = (
            "waiting for evaluators and ratings" if ended == progress.total else f"{now - self._began:.0f} s"
        )
        self.phase(f"{text} ({doing})")
        if not self.console.is_terminal and self._is_news(ended, progress.total, now):
            self._shown = (ended, now)
            self.console.print(text)

    def _is_news(self, ended: int, total: int, now: float) -> bool:
        if self._shown is None:
            return True
        before, shown_at = self._shown
        return ended > before and (ended == total or now - shown_at >= _LINE_EVERY)
