"""Request bodies, read as streams within limits: JSON, a form, or line by line."""

from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.requests import Request

from services.gateway.errors import InvalidQuery, TooLarge, UnknownFormat
from services.gateway.query import reporting_problems

M = TypeVar("M", bound=BaseModel)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
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


async def read_json(request: Request, model: type[M], limit: int) -> M:
    """A body in JSON, of at most so many bytes.

    Raises:
        UnknownFormat, TooLarge: As `declared_type` and `read_all`.
        InvalidQuery: Names every field that is wrong.
    """
    declared_type(request.headers, JSON)
    body = await read_all(request.stream(), limit)
    with reporting_problems():
        return model.model_validate_json(body)


def json_body(model: type[BaseModel], example: object, *, required: bool = True) -> dict[str, Any]:
    """What OpenAPI says about a route whose body `read_json` reads, which the framework does not see."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": required, "content": {JSON: {"schema": schema, "example": example}}}}


async def read_form(request: Request, limit: int) -> dict[str, str]:
    """The fields of a form of at most so many bytes; of a field that is sent twice, the last value.

    Raises:
        UnknownFormat, TooLarge: As `declared_type` and `read_all`.
        InvalidQuery: The form is not in UTF-8.
    """
    declared_type(request.headers, FORM)
    body = await read_all(request.stream(), limit)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True))
    except ValueError as error:
        raise InvalidQuery([f"the form cannot be read: {error}"]) from None


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
