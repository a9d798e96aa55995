"""Messages in flight: delivered to this runner and not yet acknowledged."""

import asyncio
from dataclasses import dataclass

import structlog
from nats.aio.msg import Msg

from services.runtime.bus.connection import Bus
from services.runtime.bus.message import Delivery, delivery_of
from services.runtime.bus.topology import ConsumerSpec
from services.runtime.errors import Unavailable
from services.runtime.polling import pause

log = structlog.get_logger(__name__)

_ACK, _NAK, _IN_PROGRESS, _TERM = b"+ACK", b"-NAK", b"+WPI", b"+TERM"


@dataclass(slots=True)
class InFlight:
    """One message in flight.

    Attributes:
        delivery: The latest delivery of the message.
        body: Its payload.
        reply: Subject on which the broker expects the acknowledgement of the latest delivery.
        stream: The stream it came from.
        settled: Whether an ack, nak or term was sent.
    """

    delivery: Delivery
    body: bytes
    reply: str
    stream: str
    settled: bool = False


class MessagesInFlight:
    """All messages of one consumer that are in flight, and their heartbeats and acknowledgements.

    Acks, naks and terms are confirmed by the broker. Without that, an ack lost with a connection would cost
    the whole job again after ack_wait, and a lost nak would wait for ack_wait instead of its own delay.
    """

    def __init__(self, bus: Bus, spec: ConsumerSpec) -> None:
        self._bus = bus
        self._spec = spec
        self._messages: dict[int, InFlight] = {}
        self._unsettled = 0
        self._confirmations: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Number of messages that are not settled."""
        return self._unsettled

    def admit(self, msg: Msg) -> InFlight | None:
        """Register a delivery; None when the same message is already in flight.

        The broker delivers a message again when our heartbeats did not reach it, or when it was killed
        before it stored that it had delivered the message. The job is then already running or done, so it is
        not started again; but its acknowledgement goes to the newer delivery, because the broker accepts no
        other.
        """
        delivery, stream = delivery_of(msg), msg.metadata.stream
        earlier = self._messages.get(delivery.stream_seq)
        if earlier is not None:
            earlier.reply, earlier.delivery = msg.reply, delivery
            return None
        message = InFlight(delivery, msg.data, msg.reply, stream)
        self._messages[delivery.stream_seq] = message
        self._unsettled += 1
        return message

    def ack(self, message: InFlight) -> None:
        """Acknowledge a message that was handled: it is not delivered again."""
        self._settle(message, _ACK)

    def term(self, message: InFlight, reason: str) -> None:
        """Terminate a message that was given up: it is not delivered again."""
        self._settle(message, _TERM + b" " + reason.encode())

    def nak(self, message: InFlight, delay: float) -> None:
        """Have a message delivered again after `delay` seconds, to this process or another."""
        # Removed at once: the next delivery may arrive before this one is confirmed.
        self._messages.pop(message.delivery.stream_seq, None)
        self._settle(message, _NAK + b' {"delay": %d}' % int(delay * 1e9) if delay > 0 else _NAK)

    async def hand_back(self, message: InFlight) -> None:
        """Have a message delivered again at once, without waiting for the broker's confirmation."""
        if message.settled:
            return
        self._note_settled(message)
        self._messages.pop(message.delivery.stream_seq, None)
        await self._bus.send(message.reply, _NAK)

    async def heartbeat(self) -> None:
        """Send heartbeats three times per ack_wait, and at once after a reconnection. Never returns."""
        due = asyncio.Event()
        unsubscribe = self._bus.on_reconnect(due.set)
        try:
            while True:
                await pause(self._spec.ack_wait / 3, due)
                due.clear()
                await self._send_heartbeats()
        finally:
            unsubscribe()

    async def _send_heartbeats(self) -> None:
        for message in tuple(self._messages.values()):
            if not message.settled:  # a heartbeat after a nak would undo its delay
                await self._bus.send(message.reply, _IN_PROGRESS)

    async def acks_flushed(self, within: float) -> None:
        """Wait until the broker has confirmed every ack, nak and term, at most `within` seconds."""
        if self._confirmations:
            await asyncio.wait(self._confirmations, timeout=within)

    def cancel_confirmations(self) -> None:
        """Stop waiting for confirmations; messages without one may be delivered again."""
        for confirmation in self._confirmations:
            confirmation.cancel()

    def _settle(self, message: InFlight, ack: bytes) -> None:
        # In a task of its own, so that the worker goes on with the next message: a broker that was killed may
        # accept the ack only after delivering the message again, and that needs room for the delivery.
        self._note_settled(message)
        task = asyncio.create_task(self._confirmed(message, ack))
        self._confirmations.add(task)
        task.add_done_callback(self._confirmations.discard)

    def _note_settled(self, message: InFlight) -> None:
        self._unsettled -= not message.settled
        message.settled = True

    async def _confirmed(self, message: InFlight, ack: bytes) -> None:
        try:
            await self._bus.acknowledge(lambda: message.reply, ack, within=self._spec.ack_wait)
        except Unavailable as error:
            log.warning("acknowledgement not confirmed", message_id=message.delivery.id, error=error.detail)
        finally:
            if self._messages.get(message.delivery.stream_seq) is message:
                del self._messages[message.delivery.stream_seq]
