"""How full the streams are: for metrics, for readiness, and to stop work before a stream is full."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

import nats.errors
import structlog
from nats.js.errors import NotFoundError

from nuggetstream.domain.failure import Reason
from services.runtime import metrics
from services.runtime.bus import Bus, describe_error
from services.runtime.errors import Outage
from services.runtime.polling import repeat

log = structlog.get_logger(__name__)
In = TypeVar("In")
Out = TypeVar("Out")

_INTERVAL = 2.0  # seconds


class StreamUsage:
    """The part of each stream that is in use, measured every two seconds.

    Args:
        bus: Connection to the broker.
        streams: Names of the streams.

    Attributes:
        used: Part in use of every stream with a limit, between 0 and 1, by name.
    """

    def __init__(self, bus: Bus, streams: Sequence[str]) -> None:
        self._bus = bus
        self._streams = tuple(streams)
        self.used: dict[str, float] = {}
        self._missing: set[str] = set()
        self._unanswered: dict[str, str] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Measure until `stop` is set."""
        await repeat(self.measure, _INTERVAL, stop)

    async def measure(self) -> None:
        """Measure once; a stream keeps its last value while the broker does not answer."""
        for name in self._streams:
            try:
                info = await self._bus.js.stream_info(name)
            except NotFoundError:
                self._missing.add(name)
                self._unanswered.pop(name, None)
                continue
            except (nats.errors.Error, TimeoutError) as error:
                log.debug("usage of a stream unknown", stream=name, error=str(error))
                self._unanswered[name] = describe_error(error)
                continue
            self._missing.discard(name)
            self._unanswered.pop(name, None)
            used, limit = info.state.bytes, info.config.max_bytes or 0
            metrics.STREAM_BYTES.labels(name).set(used)
            if limit > 0:
                self.used[name] = used / limit
                metrics.STREAM_BYTES_LEFT.labels(name).set(max(0, limit - used))

    @property
    def unanswered(self) -> str | None:
        """Why the broker did not say at the last measurement how full a stream is; None where it did."""
        return next((f"stream {name}: {why}" for name, why in self._unanswered.items()), None)

    def problem(self, limit: float, limited: Collection[str] | None = None) -> str | None:
        """The streams that are missing or filled above a limit, as a sentence; None when there are none.

        Args:
            limit: Largest part in use, between 0 and 1.
            limited: Names of the streams that have the limit; all when None.
        """
        problems = [
            f"stream {name} is missing: run `nuggetstream bootstrap`" for name in sorted(self._missing)
        ]
        problems += [
            f"stream {name} of the broker is {used:.0%} full, and new work waits above {limit:.0%}"
            for name, used in self.used.items()
            if used > limit and (limited is None or name in limited)
        ]
        return "; ".join(problems) or None

    def gated(self, handle: Callable[[In], Awaitable[Out]], limit: float) -> Callable[[In], Awaitable[Out]]:
        """The handler, which raises `Outage` instead of beginning while a stream is filled above a limit."""

        async def handle_when_there_is_room(job: In) -> Out:
            if (problem := self.problem(limit)) is not None:
                raise Outage(Reason.STORE_UNAVAILABLE, problem)
            return await handle(job)

        return handle_when_there_is_room
