"""Request bodies, read as streams within limits: a whole body, or line by line."""

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import Headers

from services.gateway.errors import TooLarge, UnknownFormat

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

MAX_BATTLE_BYTES = 8 * 1024 * 1024
# Lines that are stored in one transaction; parsing them must not stop other requests for long.
MAX_GROUP_LINES = 128
MAX_GROUP_BYTES = 1024 * 1024
# A client that is cut off while it still writes may never read the error, so reading goes on up to this many
# times the limit.
_READ_ON = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a body.

    Attributes:
        number: Its number, counted from 1.
        text: The line; None where it is over the limit.
    """

    number: int
    text: bytes | None


def declared_type(headers: Headers, *accepted: str) -> str:
    """The content type of a body.

    Raises:
        UnknownFormat: the content type is not one of those accepted, or the body is compressed.

    >>> declared_type(Headers({"content-type": "Application/JSON; charset=utf-8"}), JSON)
    'application/json'
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnknownFormat("a body that is not compressed", f"content-encoding {encoding!r}")
    content_type = headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type not in accepted:
        names = [kind for kind in accepted if kind not in NDJSON[1:]]
        raise UnknownFormat(" or ".join(names), repr(content_type) if content_type else "no content type")
    return content_type


async def read_all(chunks: AsyncIterator[bytes], limit: int = MAX_BATTLE_BYTES) -> bytes:
    """A whole body, without a byte order mark at its beginning.

    Args:
        chunks: The body as it arrives.
        limit: Maximum size in bytes; never more than that is held in memory.

    Raises:
        TooLarge: the body is over the limit.
    """
    body, size = bytearray(), 0
    async for chunk in chunks:
        size += len(chunk)
        if size <= limit:
            body += chunk
        elif size > _READ_ON * limit:
            break
    if size > limit:
        raise TooLarge(limit)
    return bytes(body).removeprefix(BOM_UTF8)


async def read_lines(chunks: AsyncIterator[bytes], limit: int = MAX_BATTLE_BYTES) -> AsyncIterator[Line]:
    """The lines of a body as they arrive, without blank lines and without a byte order mark at the beginning.

    Args:
        chunks: The body as it arrives.
        limit: Maximum size of a line in bytes; at most one line is held in memory.
    """
    number, kept, over = 1, bytearray(), False

    def line() -> Line:
        text = bytes(kept).removeprefix(BOM_UTF8) if number == 1 else bytes(kept)
        return Line(number, None if over else text)

    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        for index, part in enumerate((first, *rest)):
            if index > 0:
                if over or kept.strip():
                    yield line()
                number, kept, over = number + 1, bytearray(), False
            over = over or len(kept) + len(part) > limit
            if over:
                kept.clear()
            else:
                kept += part
    if over or kept.strip():
        yield line()


class LineGroups:
    """Lines as groups that can be stored together: those that have arrived since the group before.

    Reading begins at once, and the body is read on while a group is handled, until the next group is full. A
    client that sends one line and waits for its result gets groups of one line.

    Args:
        lines: Lines as they arrive.
    """

    def __init__(self, lines: AsyncIterator[Line]) -> None:
        self._lines: list[Line] = []
        self._bytes = 0
        self._ended = False
        self._changed = asyncio.Condition()
        self._reading = asyncio.create_task(self._read(lines))

    async def __aiter__(self) -> AsyncIterator[list[Line]]:
        """The groups; what reading raises is raised after the lines that arrived before."""
        try:
            while group := await self._take():
                yield group
            await self._reading
        finally:
            self._reading.cancel()

    async def _read(self, lines: AsyncIterator[Line]) -> None:
        try:
            async for line in lines:
                async with self._changed:
                    await self._changed.wait_for(lambda: not self._is_full)
                    self._lines.append(line)
                    self._bytes += len(line.text or b"")
                    self._changed.notify_all()
        finally:
            async with self._changed:
                self._ended = True
                self._changed.notify_all()

    async def _take(self) -> list[Line]:
        """All lines that wait, at least one; none at the end."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._lines) or self._ended)
            group, self._lines, self._bytes = self._lines, [], 0
            self._changed.notify_all()
            return group

    @property
    def _is_full(self) -> bool:
        return len(self._lines) >= MAX_GROUP_LINES or self._bytes >= MAX_GROUP_BYTES
