"""When the oldest message that waits in ARENA was published.

The stream keeps only what waits: a message is deleted once all consumers that read its subject have acked it.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

from nats.js.errors import NotFoundError

from services.runtime.bus import Bus
from services.wire.subjects import STREAM_ARENA

OldestWaiting = Callable[[], Awaitable[datetime | None]]
"""Returns when the oldest message that waits in ARENA was published; None when there is none."""

_NO_MESSAGE = 10037  # JetStream's error code where the stream exists and has no such message


def oldest_in_arena(bus: Bus) -> OldestWaiting:
    """Reads when the oldest message of ARENA was published.

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
