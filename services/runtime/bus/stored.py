"""The messages that a stream has stored, read once from the oldest to the newest."""

from collections.abc import AsyncIterator

from nats.aio.msg import Msg
from nats.js import api

from services.runtime.bus.connection import Bus

_SILENCE = 5.0  # seconds without a message after which the broker counts as unavailable


async def stored_headers(bus: Bus, stream: str, subject: str) -> AsyncIterator[Msg]:
    """The messages that a stream has on a subject now, oldest first, with headers and without bodies.

    Raises:
        nats.errors.Error, TimeoutError: The broker does not answer.
    """
    # An ordered consumer. That of nats-py has one copy, which a stream that keeps its messages until they are
    # acked rejects where it has three itself.
    config = api.ConsumerConfig(
        deliver_subject=bus.inbox(),
        filter_subject=subject,
        ack_policy=api.AckPolicy.NONE,
        max_deliver=1,
        flow_control=True,
        idle_heartbeat=_SILENCE,
        mem_storage=True,
        headers_only=True,
    )
    consumer = await bus.js.add_consumer(stream, config)
    messages = await bus.js.subscribe_bind(stream, config, consumer.name, ordered_consumer=True)
    try:
        left = consumer.num_pending or 0
        while left > 0:
            message = await messages.next_msg(_SILENCE)
            left = message.metadata.num_pending
            yield message
    finally:
        await messages.unsubscribe()
