"""Reading request bodies of unknown kind and length without trusting them."""

from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import Headers

from services.gateway.errors import TooLarge, UnknownFormat

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

MAX_BATTLE_BYTES = 8 * 1024 * 1024
# A sender that is cut off while it still writes may never see the refusal: read on this far first.
_READ_ON = 4


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a body, numbered from 1; `text` is None where it was over the limit."""

    number: int
    text: bytes | None


def declared_type(headers: Headers, *accepted: str) -> str:
    """The content type of a body, if it is one of those accepted.

    Raises:
        UnknownFormat: it is not, or the body is compressed.

    >>> declared_type(Headers({"content-type": "Application/JSON; charset=utf-8"}), JSON)
    'application/json'
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnknownFormat("a body that is not compressed", f"content-encoding {encoding!r}")
    content_type = headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type not in accepted:
        shown = [kind for kind in accepted if kind not in NDJSON[1:]]
        raise UnknownFormat(" or ".join(shown), repr(content_type) if content_type else "no content type")
    return content_type


async def read_all(chunks: AsyncIterator[bytes], limit: int = MAX_BATTLE_BYTES) -> bytes:
    """A whole body, without the byte order mark that some programs put in front of UTF-8.

    Raises:
        TooLarge: it is over the limit; never more than the limit is held in memory.
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
    """The lines of a body as they arrive; at most one of them is held in memory.

    Blank lines are left out, and so is a byte order mark in front of the first.
    """
    number, kept, over = 1, bytearray(), False

    def line() -> Line:
        text = bytes(kept).removeprefix(BOM_UTF8) if number == 1 else bytes(kept)
        return Line(number, None if over else text)

    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        for place, part in enumerate((first, *rest)):
            if place:
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
