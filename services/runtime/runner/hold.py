"""The deliveries a runner holds, kept alive until each has had its last word."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import structlog
from nats.aio.msg import Msg

from services.runtime.bus.connection import Bus
from services.runtime.bus.message import Delivery, delivery_of
from services.runtime.bus.topology import ConsumerSpec
from services.runtime.errors import Unavailable

log = structlog.get_logger(__name__)

_ACK, _NAK, _PROGRESS, _TERM = b"+ACK", b"-NAK", b"+WPI", b"+TERM"


@dataclass(slots=True)
class Held:
    """One message in our hands.

    Attributes:
        delivery: its latest delivery.
        body: its payload.
        reply: where the broker listens for what becomes of the latest delivery.
        stream: the stream it came from.
        settled: its last word is on its way.
    """

    delivery: Delivery
    body: bytes
    reply: str
    stream: str
    settled: bool = False


class Hold:
    """Everything held from one consumer.

    The last word on a message is confirmed by the broker. An acknowledgement lost with a connection
    would cost the job again after ack_wait, and a lost retry would wait ack_wait instead of its delay.
    """

    def __init__(self, bus: Bus, spec: ConsumerSpec) -> None:
        self._bus = bus
        self._spec = spec
        self._held: dict[int, Held] = {}
        self._words: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Messages without a last word."""
        return sum(not held.settled for held in self._held.values())

    def admit(self, msg: Msg) -> Held | None:
        """Take a delivery in; None where the same message is already held.

        The broker delivers a message again when our signs of life did not reach it, or when it
        was killed before it wrote down that it had delivered it. The job is then already running,
        or done: it is not started twice, but its last word goes to the newer delivery, the only one
        the broker still listens to.
        """
        delivery, stream = delivery_of(msg), msg.metadata.stream
        twin = self._held.get(delivery.stream_seq)
        if twin is not None:
            twin.reply, twin.delivery = msg.reply, delivery
            return None
        held = Held(delivery, msg.data, msg.reply, stream)
        self._held[delivery.stream_seq] = held
        return held

    def done(self, held: Held) -> None:
        """The message was handled; never deliver it again."""
        self._last_word(held, _ACK)

    def dead(self, held: Held, reason: str) -> None:
        """The message was given up on; never deliver it again."""
        self._last_word(held, _TERM + b" " + reason.encode())

    def again(self, held: Held, delay: float) -> None:
        """Deliver it again after `delay` seconds, here or elsewhere."""
        # Out of hand at once: the next delivery is meant, and may overtake the confirmation of this.
        self._held.pop(held.delivery.stream_seq, None)
        self._last_word(held, _NAK + b' {"delay": %d}' % int(delay * 1e9) if delay > 0 else _NAK)

    async def hand_back(self, held: Held) -> None:
        """Deliver it again at once, preferably elsewhere. Does not wait for the broker's word."""
        if held.settled:
            return
        held.settled = True
        self._held.pop(held.delivery.stream_seq, None)
        await self._bus.tell(held.reply, _NAK)

    async def keep_alive(self) -> None:
        """Send signs of life three times per ack_wait, and at once after a reconnection."""
        beat = asyncio.Event()
        end = self._bus.on_reconnect(beat.set)
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(beat.wait(), self._spec.ack_wait / 3)
                beat.clear()
                await self._signs_of_life()
        finally:
            end()

    async def _signs_of_life(self) -> None:
        for held in tuple(self._held.values()):
            if not held.settled:  # a sign of life after the last word would undo a retry's delay
                await self._bus.tell(held.reply, _PROGRESS)

    async def words_heard(self, within: float) -> None:
        """Wait until the broker has confirmed every last word, at most `within` seconds."""
        if self._words:
            await asyncio.wait(self._words, timeout=within)

    def drop(self) -> None:
        """Stop waiting for confirmations; what was not heard will be delivered again."""
        for word in self._words:
            word.cancel()

    def _last_word(self, held: Held, word: bytes) -> None:
        # Beside the worker, which goes on with the next message: a broker that was killed may know of
        # this delivery only after handing it out again, and that takes room to be handed it.
        held.settled = True
        task = asyncio.create_task(self._confirmed(held, word))
        self._words.add(task)
        task.add_done_callback(self._words.discard)

    async def _confirmed(self, held: Held, word: bytes) -> None:
        try:
            await self._bus.confirm(lambda: held.reply, word, within=self._spec.ack_wait)
        except Unavailable as error:
            log.warning("last word not confirmed", message_id=held.delivery.id, error=error.detail)
        finally:
            if self._held.get(held.delivery.stream_seq) is held:
                del self._held[held.delivery.stream_seq]
