"""Publish events outside the runner, which publishes the outputs of stages."""

from collections.abc import Awaitable, Callable

from nuggetstream.domain.event import Event
from services.runtime.bus import Bus
from services.wire.codec import BlobStore, seal

Publish = Callable[[Event], Awaitable[object]]


def publisher(bus: Bus, blobs: BlobStore, within: float | None = None) -> Publish:
    """A function that publishes an event and returns when the broker has stored it.

    Args:
        bus: Connection to the broker.
        blobs: Store of bodies that are too large for a message.
        within: Seconds until a broker that does not answer counts as unavailable; the bus's own by default.
    """

    async def publish(event: Event) -> object:
        return await bus.publish(await seal(event, blobs), within)

    return publish
