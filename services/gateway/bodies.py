"""Reading request bodies of unknown length without trusting it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.gateway.refusals import TooLarge

MAX_BATTLE_BYTES = 8 * 1024 * 1024
# A sender that is cut off while it still writes may never see the refusal: read on this far first.
_READ_ON = 4


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a body, numbered from 1; `text` is None where it was over the limit."""

    number: int
    text: bytes | None


async def read_all(chunks: AsyncIterator[bytes], limit: int = MAX_BATTLE_BYTES) -> bytes:
    """A whole body.

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
    return bytes(body)


async def read_lines(chunks: AsyncIterator[bytes], limit: int = MAX_BATTLE_BYTES) -> AsyncIterator[Line]:
    """The lines of a body as they arrive, blank ones left out; at most one line is held in memory."""
    number, kept, over = 1, bytearray(), False
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        for place, part in enumerate((first, *rest)):
            if place:
                if over or kept.strip():
                    yield Line(number, None if over else bytes(kept))
                number, kept, over = number + 1, bytearray(), False
            over = over or len(kept) + len(part) > limit
            if over:
                kept.clear()
            else:
                kept += part
    if over or kept.strip():
        yield Line(number, None if over else bytes(kept))
