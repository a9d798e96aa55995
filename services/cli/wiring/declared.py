"""The streams and consumers of separate services: declared, and declared again when the broker loses them."""

import asyncio
from functools import partial

import nats.errors
import structlog
from nats.js.errors import NotFoundError

from services.cli.wiring.settings import PlatformSettings
from services.runtime.bus import Bus, describe_error, ensure, remove_undeclared
from services.runtime.polling import repeat
from services.wire.evaluators import GRADER_PREFIX
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import consumers, streams

log = structlog.get_logger(__name__)

_INTERVAL = 5.0  # seconds


async def declare(bus: Bus, platform: PlatformSettings) -> list[str]:
    """Create or update all streams and consumers.

    Returns:
        Names of consumers that are deleted, because what they are for is no longer declared.

    Raises:
        nats.errors.Error: The broker does not answer, or rejects a declaration.
    """
    declared = consumers(platform.evaluators)
    await ensure(bus.js, streams(platform.nats_replicas, platform.nats_stream_bytes), declared)
    return await remove_undeclared(bus.js, STREAM_ARENA, GRADER_PREFIX, declared)


async def keep_declared(bus: Bus, platform: PlatformSettings, stop: asyncio.Event) -> None:
    """Declare streams and consumers again when one stream is missing, until `stop` is set.

    A broker that has lost its storage has no streams, and no battle could be accepted until somebody declared
    them. Battles that were in them are sent to their stages again by the reconciler.
    """
    await repeat(partial(_declare_missing, bus, platform), _INTERVAL, stop)


async def _declare_missing(bus: Bus, platform: PlatformSettings) -> None:
    try:
        for stream in streams():
            if not await is_declared(bus, stream.name):
                log.error("a stream is missing; declaring streams and consumers again", stream=stream.name)
                await declare(bus, platform)
                return
    except nats.errors.Error as error:
        log.debug("streams cannot be declared now", why=describe_error(error))


async def is_declared(bus: Bus, stream: str) -> bool:
    """Whether the broker knows a stream, which may have no leader at present.

    Raises:
        nats.errors.Error: The broker does not answer.
    """
    try:
        await bus.js.stream_info(stream)
    except NotFoundError:
        return False
    except nats.errors.TimeoutError:
        return True  # only the leader of the stream answers
    return True
