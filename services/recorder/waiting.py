"""When ARENA was created, and when the oldest message that waits in it was published.

The stream keeps only what waits: a message is deleted once all consumers that read its subject have acked it.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from nats.js.errors import NotFoundError

from services.runtime.bus import Bus
from services.wire.subjects import STREAM_ARENA

ArenaTime = Callable[[], Awaitable[datetime | None]]
"""Returns a time of the stream ARENA; None when there is none."""

_NO_MESSAGE = 10037  # JetStream's error code where the stream exists and has no such message


def oldest_in_arena(bus: Bus) -> ArenaTime:
    """Reads when the oldest message of ARENA was published; None when there is none.

    It is one request, so that a message that is acked meanwhile is either found or skipped.
    """

    async def oldest() -> datetime | None:
        try:
            return (await bus.js.get_msg(STREAM_ARENA, 1, ">", next=True)).time
        except NotFoundError as error:
            if error.err_code == _NO_MESSAGE:
                return None
            raise

    return oldest


def created_of_arena(bus: Bus) -> ArenaTime:
    """Reads when the stream ARENA was created; a stream that was lost and created again has a new time."""

    async def created() -> datetime | None:
        try:
            at = (await bus.js.stream_info(STREAM_ARENA)).created
        except NotFoundError:
            return None
        return None if at is None else at.astimezone(UTC)

    return created
