"""How many messages to hold at once: pure arithmetic, no I/O."""

from dataclasses import dataclass


def demand(*, room: int, held: int, waiting: int, outstanding: int, prefetch: int) -> int:
    """How many more messages to request now.

    Refills when what waits here or is on its way has fallen to half of the prefetch, so that one
    request brings several messages and the next is here before it is needed.

    Args:
        room: most messages to hold at once.
        held: messages held now, being handled or waiting.
        waiting: those of them not started yet.
        outstanding: messages requested and not here yet.
        prefetch: messages to hold ready beyond those being handled.

    >>> demand(room=16, held=0, waiting=0, outstanding=0, prefetch=8)
    16
    >>> demand(room=16, held=13, waiting=5, outstanding=0, prefetch=8)
    0
    >>> demand(room=16, held=12, waiting=4, outstanding=0, prefetch=8)
    4
    """
    if waiting + outstanding > prefetch // 2:
        return 0
    return max(0, room - held - outstanding)


@dataclass(slots=True)
class Caution:
    """Hold one message at a time after a start amid redeliveries, until the coast is clear.

    A message that kills its process takes down every message held beside it, and each of them loses
    one of its deliveries. The next process is handed the survivors and the killer within ack_wait of
    its start. It begins with one message, holds one more for each redelivered one that was settled,
    and so meets the killer alone or nearly so; the others keep their chances.

    Attributes:
        full: the room without caution.
        room: most messages to hold now.
    """

    full: int
    room: int

    def settled(self, attempt: int) -> None:
        """A message had its last word on this attempt, and the process is still here."""
        if attempt > 1:
            self.room = min(self.full, self.room + 1)

    def end(self) -> None:
        """Everything that could be handed out again from before the start has been."""
        self.room = self.full
