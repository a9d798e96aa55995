"""The broker's view of all stages: lag, pull requests and pauses of their consumers.

A stage cannot report that it is down. Therefore the gateway and the recorder read the consumers of all stages
from the broker, and each reports the other, too.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog
from nats.errors import Error
from nats.js.api import ConsumerInfo
from prometheus_client import Gauge

from services.runtime.bus import Bus
from services.runtime.metrics import CONSUMER_IN_FLIGHT, CONSUMER_PAUSED, CONSUMER_PULLS, LAG, OTHER_LAG
from services.runtime.polling import repeat

log = structlog.get_logger(__name__)

_INTERVAL = 5.0  # seconds
_GAUGES: dict[Gauge, Callable[[ConsumerInfo], float]] = {
    LAG: lambda consumer: consumer.num_pending or 0,
    CONSUMER_PULLS: lambda consumer: consumer.num_waiting or 0,
    CONSUMER_IN_FLIGHT: lambda consumer: consumer.num_ack_pending or 0,
    CONSUMER_PAUSED: lambda consumer: bool(consumer.paused),
}


class ConsumerWatch:
    """Exports lag, waiting pull requests, messages in flight and pauses of the consumers of all stages.

    No process of the platform runs the durable consumers that operators add, so these have a metric of their
    own, which says how many messages each keeps in its stream. Consumers that are not durable are left out.

    A consumer that was deleted, and all consumers while the broker does not answer, have no value instead of
    an old one, so that alerts on `absent` fire.

    Args:
        bus: Connection to the broker.
        streams: Names of the streams whose consumers are watched.
        ours: Whether a durable consumer is one of the platform's own, by its name.
    """

    def __init__(self, bus: Bus, streams: Sequence[str], ours: Callable[[str], bool]) -> None:
        self._bus = bus
        self._streams = tuple(streams)
        self._ours = ours
        self._known: set[str] = set()
        self._others: set[tuple[str, str]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Measure every five seconds until `stop` is set."""
        await repeat(self.measure, _INTERVAL, stop)

    async def measure(self) -> None:
        """Measure once."""
        seen: set[str] = set()
        others: set[tuple[str, str]] = set()
        for stream in self._streams if self._bus.connected else ():  # else each would be waited for
            try:
                consumers = await self._bus.js.consumers_info(stream)
            except (Error, TimeoutError) as error:
                log.debug("consumers unknown", stream=stream, error=str(error))
                continue
            for consumer in consumers:
                if not self._ours(consumer.name):
                    if consumer.config.durable_name:
                        others.add((stream, consumer.name))
                        kept = (consumer.num_pending or 0) + (consumer.num_ack_pending or 0)
                        OTHER_LAG.labels(stream, consumer.name).set(kept)
                    continue
                seen.add(consumer.name)
                for gauge, value in _GAUGES.items():
                    gauge.labels(consumer.name).set(value(consumer))
        for gone in self._known - seen:
            for gauge in _GAUGES:
                _remove(gauge, gone)
        for labels in self._others - others:
            _remove(OTHER_LAG, *labels)
        self._known, self._others = seen, others


def _remove(gauge: Gauge, *labels: str) -> None:
    with suppress(KeyError):  # another watch of this process has removed it
        gauge.remove(*labels)
