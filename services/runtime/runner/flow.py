"""How many messages to have in flight at once: pure arithmetic, no I/O."""

from dataclasses import dataclass


def demand(*, limit: int, in_flight: int, waiting: int, outstanding: int, prefetch: int) -> int:
    """How many more messages to request now.

    Messages are requested when those waiting here and those requested have fallen to half of the prefetch,
    so that one request brings several messages and the next message is here before it is needed.

    Args:
        limit: Most messages to have in flight at once.
        in_flight: Messages in flight now, being handled or waiting.
        waiting: Messages in flight whose handling has not begun.
        outstanding: Messages requested that have not arrived.
        prefetch: Messages to have waiting beyond those being handled.

    >>> demand(limit=16, in_flight=0, waiting=0, outstanding=0, prefetch=8)
    16
    >>> demand(limit=16, in_flight=13, waiting=5, outstanding=0, prefetch=8)
    0
    >>> demand(limit=16, in_flight=12, waiting=4, outstanding=0, prefetch=8)
    4
    """
    if waiting + outstanding > prefetch // 2:
        return 0
    return max(0, limit - in_flight - outstanding)


@dataclass(slots=True)
class SlowStart:
    """Limits the messages in flight after a start with unsettled redeliveries.

    A message that kills its process costs every other message in flight one of its deliveries. The next
    process receives all of them again within ack_wait of its start. It begins with one message in flight
    and allows one more for each redelivered message that was settled, so the killing message is handled
    alone or nearly alone and the others do not run out of deliveries.

    Attributes:
        maximum: The limit without slow start.
        limit: Most messages in flight now.
    """

    maximum: int
    limit: int

    def settled(self, attempt: int) -> None:
        """Record that a message was settled on this attempt; a redelivered one raises the limit."""
        if attempt > 1:
            self.limit = min(self.maximum, self.limit + 1)

    def end(self) -> None:
        """Return to the maximum: everything delivered before the start has been redelivered by now."""
        self.limit = self.maximum
