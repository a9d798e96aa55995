"""When the oldest message that waits in ARENA was published.

The stream keeps only what waits: a message is deleted once all consumers that read its subject have acked it.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

from nats.js.errors import NotFoundError

from nuggetstream.domain.event import BattleEvent, BattleVoted
from nuggetstream.domain.failure import Stage
from services.runtime.bus import Bus
from services.wire import topology
from services.wire.subjects import STREAM_ARENA, SUBJECTS

OldestWaiting = Callable[[], Awaitable[datetime | None]]
"""Returns when the oldest message that waits in ARENA was published; None when there is none."""

_NO_MESSAGE = 10037  # JetStream's error code where the stream exists and has no such message


def oldest_in_arena(bus: Bus) -> OldestWaiting:
    """Reads when the oldest message of ARENA was published."""

    async def oldest() -> datetime | None:
        return await _published_at(bus, ">", 1)

    return oldest


def oldest_vote_in_arena(bus: Bus) -> OldestWaiting:
    """Reads when the oldest vote in ARENA was published."""

    async def oldest() -> datetime | None:
        return await _published_at(bus, SUBJECTS[BattleVoted], 1)

    return oldest


def oldest_for(bus: Bus, stage: Stage, *kinds: type[BattleEvent]) -> OldestWaiting:
    """Reads when the oldest event of some kinds that a stage has not acked was published.

    The stream may have older ones, which another consumer has not acked.
    """
    durable = topology.consumer(stage).durable

    async def oldest() -> datetime | None:
        try:
            acked = (await bus.js.consumer_info(STREAM_ARENA, durable)).ack_floor.stream_seq
        except NotFoundError:
            acked = 0
        times = [await _published_at(bus, SUBJECTS[kind], acked + 1) for kind in kinds]
        return min((time for time in times if time is not None), default=None)

    return oldest


async def _published_at(bus: Bus, subject: str, sequence: int) -> datetime | None:
    """When the first message from a sequence number on was published; None where there is none.

    It is one request, so that a message that is acked meanwhile is either found or skipped.
    """
    try:
        return (await bus.js.get_msg(STREAM_ARENA, sequence, subject, next=True)).time
    except NotFoundError as error:
        if error.err_code == _NO_MESSAGE:
            return None
        raise
