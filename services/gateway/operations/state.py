"""What the broker says about the stages: messages that wait, are in flight, or were given up.

streams and consumers of the broker  ->  a line per consumer, and per stream
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import nats.errors

from nuggetstream.domain.failure import Reason
from services.runtime.bus import Bus, describe_error
from services.runtime.errors import Unavailable


@dataclass(frozen=True, slots=True)
class ConsumerLine:
    """One consumer.

    Attributes:
        name: Its name, which is that of its stage.
        waiting: Messages that it was not sent yet.
        in_flight: Messages that it was sent and that are not acknowledged.
        redelivered: Of these, messages that it was sent more than once.
        pulls: Requests for messages that wait; 0 where no process reads.
        paused_until: When the broker delivers messages again; None where it is not paused.
    """

    name: str
    waiting: int
    in_flight: int
    redelivered: int
    pulls: int
    paused_until: datetime | None


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One stream.

    Attributes:
        name: Its name.
        messages: Number of its messages.
        bytes: Their size.
        max_bytes: Size that it may have; None without a limit.
        consumers: Its durable consumers, those with the most waiting messages first.
    """

    name: str
    messages: int
    bytes: int
    max_bytes: int | None
    consumers: tuple[ConsumerLine, ...]


async def stream_lines(bus: Bus, names: Sequence[str]) -> list[StreamLine]:
    """The streams of these names with their consumers.

    Raises:
        Unavailable: the broker does not answer.
    """
    try:
        return list(await asyncio.gather(*(_line(bus, name) for name in names)))
    except (nats.errors.Error, TimeoutError) as error:
        raise _unavailable(error) from error


def _unavailable(error: nats.errors.Error | TimeoutError) -> Unavailable:
    detail = describe_error(error) if isinstance(error, nats.errors.Error) else "the broker does not answer"
    return Unavailable(Reason.DEADLINE, detail)


async def _line(bus: Bus, name: str) -> StreamLine:
    stream, consumers = await asyncio.gather(bus.js.stream_info(name), bus.js.consumers_info(name))
    lines = [
        ConsumerLine(
            name=consumer.name,
            waiting=consumer.num_pending or 0,
            in_flight=consumer.num_ack_pending or 0,
            redelivered=consumer.num_redelivered or 0,
            pulls=consumer.num_waiting or 0,
            paused_until=datetime.fromisoformat(consumer.config.pause_until or "")
            if consumer.paused
            else None,
        )
        for consumer in consumers
        if consumer.config.durable_name
    ]
    limit = stream.config.max_bytes
    return StreamLine(
        name=name,
        messages=stream.state.messages,
        bytes=stream.state.bytes,
        max_bytes=limit if limit and limit > 0 else None,
        consumers=tuple(sorted(lines, key=lambda line: (-line.waiting - line.in_flight, line.name))),
    )
