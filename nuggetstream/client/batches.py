"""Many battles as NDJSON: sent in batches, each answered line by line.

A batch is sent again as a whole where its reply is lost, and in part where some lines met a platform that was
not available. Both are safe, because the same battle sent twice is one battle.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import httpx2
from pydantic import ValidationError

from nuggetstream.client.calls import Call, Submission, encoded
from nuggetstream.client.errors import UnexpectedReply
from nuggetstream.client.exchange import Pause, Steps, exchange
from nuggetstream.client.patience import Patience
from nuggetstream.client.replies import error_of
from nuggetstream.views.battles import LineResult

MOST_LINES = 100
MOST_BYTES = 1024 * 1024
_UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class Line:
    """One battle of many: its number, from 1, and its JSON."""

    number: int
    body: bytes


@dataclass(slots=True)
class Batches:
    """Collects battles into batches of at most 100 lines or about one megabyte."""

    _lines: list[Line] = field(default_factory=list)
    _bytes: int = 0
    _taken: int = 0

    def add(self, battle: Submission) -> list[Line]:
        """Take a battle; the batch that it completes, or nothing."""
        self._taken += 1
        line = Line(self._taken, encoded(battle))
        self._lines.append(line)
        self._bytes += len(line.body)
        is_full = len(self._lines) >= MOST_LINES or self._bytes >= MOST_BYTES
        return self.rest() if is_full else []

    def rest(self) -> list[Line]:
        """The battles that are in no batch yet."""
        lines, self._lines, self._bytes = self._lines, [], 0
        return lines


def submission(lines: Sequence[Line], patience: Patience) -> Steps[list[LineResult]]:
    """Submit one batch; lines that met an unavailable platform are sent again while patience lasts.

    Returns:
        One result per line, in the order of the lines and with their numbers.
    """
    results: dict[int, LineResult] = {}
    missing = list(lines)
    while missing:
        for result in (yield from exchange(_call(missing), patience)):
            results[result.line] = result
        refused = [line for line in missing if results[line.number].status == _UNAVAILABLE]
        if len(refused) < len(missing):
            patience.succeeded()
        missing = refused
        if missing and (pause := patience.pause()) is None:
            break
        if missing:
            yield Pause(pause or 0.0)
    return [results[line.number] for line in lines]


def _call(lines: Sequence[Line]) -> Call[list[LineResult]]:
    def read(response: httpx2.Response) -> list[LineResult]:
        if not response.is_success:
            raise error_of(response)
        results = list(_results(response))
        if [result.line for result in results] != list(range(1, len(lines) + 1)):
            raise UnexpectedReply(f"{len(lines)} lines were sent and {len(results)} results came back")
        return [
            result.model_copy(update={"line": line.number})
            for line, result in zip(lines, results, strict=True)
        ]

    return Call(
        method="POST",
        path="/v1/battles",
        read=read,
        body=b"\n".join(line.body for line in lines),
        media_type="application/x-ndjson",
    )


def _results(response: httpx2.Response) -> Iterator[LineResult]:
    for line in response.content.splitlines():
        try:
            yield LineResult.model_validate_json(line)
        except ValidationError as error:
            raise UnexpectedReply(f"{line[:200]!r} is no result of a line") from error
