"""How long an endpoint may be silent, by how fast it was so far.

A model on a processor reads a long prompt for minutes before it writes the first token. Silence for longer
than the endpoint has ever needed is the sign that a call hangs; slowness is none.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from services.runtime.llm.prices import Tokens

_WRITTEN = 4  # a token that is written takes as long as so many that are read
_ROOM = 4.0  # calls of other processes may be in front of ours
_REMEMBERED = 8  # measurements, of which the slowest counts
_SLOWEST = 20.0  # assumed before the first measurement, in tokens per second
_LONGEST_UNPROVEN_S = 900.0  # for an endpoint that has not shown that it is so slow
_LONGEST_S = 3600.0
_FEW = 4  # calls at once that a server with a single slot may have been given
_OVERHEAD = 200  # of a call, in tokens; a short prompt says little about the speed


def work_of(tokens: Tokens) -> int:
    """The work of a call, in tokens read: what the endpoint had in its cache is none.

    >>> work_of(Tokens(input=100, output=10, cached_input=40))
    100
    """
    return max(0, tokens.input - tokens.cached_input) + _WRITTEN * tokens.output


class Speed:
    """What is known about the speed of one model at one endpoint; all clients of a process share it.

    Args:
        least_s: Seconds of silence that it may always have.
    """

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._measured: deque[float] = deque(maxlen=_REMEMBERED)  # work per second
        self._unanswered_s = 0.0  # the longest silence after which a call was given up since the last answer
        self._running: list[int] = []  # the work of each call in progress

    @property
    def slowest(self) -> float | None:
        """Tokens read per second, by the slowest of the last calls; None before the first."""
        return min(self._measured, default=None)

    @contextmanager
    def running(self, work: int) -> Iterator[None]:
        """A call with so much work in all is in progress for the duration of the block."""
        self._running.append(work)
        try:
            yield
        finally:
            self._running.remove(work)

    def silence(self, work: int) -> float:
        """Seconds of silence that are allowed in a call that begins now.

        Args:
            work: The work that the endpoint does before it must be heard of, as `work_of`.
        """
        # An endpoint with many calls at once does them side by side; one with few may have a single slot.
        ahead = sum(self._running) if len(self._running) < _FEW else 0
        if (slowest := self.slowest) is None:
            expected = min((work + ahead) / _SLOWEST, _LONGEST_UNPROVEN_S)
        else:
            expected = min((_ROOM * (work + _OVERHEAD) + ahead) / slowest, _LONGEST_S)
        # A call that was given up may only have been slower than any before.
        return max(self._least_s, expected, min(2 * self._unanswered_s, _LONGEST_UNPROVEN_S))

    def answered(self, work: int, seconds: float) -> None:
        """Record that the endpoint was heard of after so much work."""
        self._measured.append((work + _OVERHEAD) / max(seconds, 1e-3))
        self._unanswered_s = 0.0

    def silent(self, seconds: float) -> None:
        """Record that a call was given up after so many seconds of silence."""
        self._unanswered_s = max(self._unanswered_s, seconds)
