"""Request bodies, read as streams within limits: a whole body, or line by line."""

from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import Headers

from services.gateway.errors import TooLarge, UnknownFormat

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

MAX_BATTLE_BYTES = 8 * 1024 * 1024
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

    @property
    def size(self) -> int:
        """Its size in bytes, as far as it is kept."""
        return len(self.text or b"")


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
