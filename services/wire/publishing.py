"""Publish events outside the runner, which publishes the outputs of stages."""

from dataclasses import replace
from typing import Protocol

from nuggetstream.domain.event import Event
from services.runtime.bus import Bus
from services.wire.codec import BlobStore, seal
from services.wire.evaluators import subject_of


class Publish(Protocol):
    """Publishes an event, on the subject that only one evaluator or stage reads where one is named."""

    async def __call__(self, event: Event, reader: str = "") -> object:  # noqa: D102 - as the class says
        ...


def publisher(bus: Bus, blobs: BlobStore, within: float | None = None) -> Publish:
    """A function that publishes an event and returns when the broker has stored it.

    Args:
        bus: Connection to the broker.
        blobs: Store of bodies that are too large for a message.
        within: Seconds until a broker that does not answer counts as unavailable; the bus's own by default.
    """

    async def publish(event: Event, reader: str = "") -> object:
        message = await seal(event, blobs)
        if reader:
            message = replace(message, subject=subject_of(reader), id=f"{message.id} {reader}")
        return await bus.publish(message, within)

    return publish
