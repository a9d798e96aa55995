"""One connection to NATS that survives disconnections.

A request that needs a confirmation (a publication, an acknowledgement) is repeated until it is confirmed,
across reconnections, within a time limit. Repeating is safe: publications carry an id, and acknowledging
twice has the effect of once.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Self, TypeVar, cast

import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError

from nuggetstream.domain.failure import Reason
from services.runtime import metrics, tracing
from services.runtime.bus.client import PatientClient
from services.runtime.bus.message import Notification, Outgoing, PubAck, wire_size
from services.runtime.bus.requests import RequestsInFlight
from services.runtime.bus.settings import DRAIN_WITHIN, BusSettings
from services.runtime.bus.spans import sending
from services.runtime.errors import Outage, Permanent, Unavailable
from services.runtime.masking import KNOWN, masked_url
from services.runtime.polling import ended_before

log = structlog.get_logger(__name__)
T = TypeVar("T")

_STREAM_MESSAGE_TOO_LARGE = 10054
# Errors of a request that is wrong itself; all others are temporary.
_PERMANENT = (nats.errors.MaxPayloadError, nats.errors.BadSubjectError, nats.errors.BadHeaderError)
# Seconds until an unconfirmed acknowledgement is repeated. Short, because a broker that was killed ignores
# acknowledgements of deliveries it does not remember, and repeating one is safe.
_ACK_WITHIN = 0.25


class BusClosed(Unavailable):
    """The connection is closed for good: by us, or because the broker rejected it (credentials)."""

    def __init__(self, cause: Exception | None = None) -> None:
        super().__init__(Reason.DEADLINE, f"the connection to the broker is closed: {cause or 'on request'}")


class Bus:
    """A connection to the broker, made by `Bus.connect`.

    Attributes:
        js: The JetStream API, for declarations and administration.
    """

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings
        self.closed = asyncio.Event()
        self._nc = PatientClient()
        self.js = JetStreamContext(self._nc)
        self._up = asyncio.Event()
        self._requests = RequestsInFlight()
        self._on_reconnect: list[Callable[[], None]] = []

    @classmethod
    @asynccontextmanager
    async def connect(cls, settings: BusSettings) -> AsyncIterator[Self]:
        """Connect for the duration of the block; on leaving, send what is pending and disconnect.

        Raises:
            Unavailable: No server answers within `connect_within` seconds.
        """
        KNOWN.remember(*settings.secrets())
        bus = cls(settings)
        await bus._open()
        try:
            yield bus
        finally:
            await bus._close()

    @property
    def connected(self) -> bool:
        """Whether the broker can be reached now."""
        return self._up.is_set()

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each reconnection. Returns a function that unsubscribes it."""
        self._on_reconnect.append(call)
        return lambda: self._on_reconnect.remove(call)

    async def publish(self, message: Outgoing, within: float | None = None) -> PubAck:
        """Store a message in the stream that captures its subject.

        The message is published again under the same id until the broker confirms it, also across a lost
        connection.

        Args:
            message: The message. The traceparent of its publication is added to its headers.
            within: Seconds until giving up; `publish_within` by default.

        Raises:
            Outage: Not confirmed in time, because the broker is away, or has no room on its disk or in the
                stream. The message may have been stored; its id makes it safe to publish it again.
            Permanent: The message is too large for the broker, or has a header whose name cannot be sent.
        """
        limit = self.settings.publish_within if within is None else within
        too_large = Permanent(Reason.TOO_LARGE, f"{len(message.body)} bytes for {message.subject}")
        if not self.fits(message):
            raise too_large
        with sending(message):
            headers = tracing.inject(message.wire_headers())
            try:
                return await self._until_answered(lambda: self._store(message, headers), limit)
            except nats.errors.MaxPayloadError:
                raise too_large from None
            except nats.errors.BadHeaderError as error:
                raise Permanent(Reason.BUG, f"a message for {message.subject} has a header {error}") from None

    def fits(self, message: Outgoing) -> bool:
        """Whether the broker accepts a message of this size.

        The broker counts the headers too, which nats-py does not, and closes the connection for good when a
        message is larger.
        """
        size = wire_size(message.wire_headers(), message.body) + tracing.HEADER_BYTES
        return size <= self._nc.max_payload

    async def acknowledge(self, reply: Callable[[], str], ack: bytes, within: float) -> None:
        """Send an ack, nak or term and wait until the broker has confirmed it.

        A lost acknowledgement would cost the whole job again, so it is worth a round trip.

        Args:
            reply: Returns the subject to send it to; called for every attempt, because the message may have
                been delivered again meanwhile.
            ack: Payload that means ack, nak or term.
            within: Seconds until giving up.

        Raises:
            Unavailable: Not confirmed in time; the message will be delivered again.
        """
        await self._until_answered(lambda: self._nc.request(reply(), ack, timeout=_ACK_WITHIN), within)

    async def send(self, subject: str, body: bytes, reply: str = "") -> None:
        """Send a message without waiting for a confirmation.

        While disconnected the message is buffered. It is lost when the buffer is full or the connection is
        closed.
        """
        try:
            await self._nc.publish(subject, body, reply=reply)
        except nats.errors.Error as error:
            log.warning("message not sent", subject=subject, error=str(error) or type(error).__name__)

    async def core_publish(self, subject: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Publish to the current subscribers by core NATS: the message is neither stored nor confirmed."""
        await self._nc.publish(subject, body, headers=tracing.inject(headers or {}) or None)

    @asynccontextmanager
    async def core_subscribe(
        self, subject: str, handle: Callable[[Notification], Awaitable[None]], queue: str = ""
    ) -> AsyncIterator[None]:
        """Handle core NATS messages in order inside the block; with `queue`, each goes to one member."""

        async def pass_on(msg: Msg) -> None:
            await handle(Notification(msg.subject, msg.data, dict(msg.headers or {})))

        async with self.listen(subject, pass_on, queue):
            yield

    @asynccontextmanager
    async def listen(
        self, subject: str, handle: Callable[[Msg], Awaitable[None]], queue: str = ""
    ) -> AsyncIterator[None]:
        """Subscribe inside the block. On leaving, messages the broker already sent are handled first."""
        subscription = await self._nc.subscribe(subject, queue=queue, cb=handle)
        try:
            await self.flush()
            yield
        finally:
            with suppress(nats.errors.Error, TimeoutError):
                async with asyncio.timeout(DRAIN_WITHIN):
                    leave = subscription.drain if self.connected else subscription.unsubscribe
                    await cast("Callable[[], Awaitable[None]]", leave)()

    def inbox(self) -> str:
        """A new subject for replies to this connection."""
        return self._nc.new_inbox()

    async def flush(self) -> None:
        """Wait until the broker has read everything sent so far; return at once while disconnected."""
        if self.connected:
            with suppress(nats.errors.Error, TimeoutError):
                await self._nc.flush(timeout=DRAIN_WITHIN)

    # --- connecting and disconnecting ----------------------------------------------------------
    async def _open(self) -> None:
        try:
            async with asyncio.timeout(self.settings.connect_within):
                await self._nc.connect(
                    **self.settings.options(),
                    error_cb=self._on_error,
                    disconnected_cb=self._on_disconnected,
                    reconnected_cb=self._on_reconnected,
                    closed_cb=self._on_closed,
                )
        except TimeoutError:
            servers = ", ".join(masked_url(server) for server in self.settings.servers)
            raise Unavailable(Reason.DEADLINE, f"no broker at {servers}: {self._nc.last_error}") from None
        self._up.set()

    async def _close(self) -> None:
        with suppress(nats.errors.Error, TimeoutError):
            await (self._nc.drain() if self.connected else self._nc.close())

    async def _on_error(self, error: Exception) -> None:
        # While disconnected every attempt reports an error; one log line about the disconnection is enough.
        if self.connected:
            log.warning("bus error", error=str(error) or type(error).__name__)

    async def _on_disconnected(self) -> None:
        if self._up.is_set():
            self._up.clear()
            self._requests.fail()
            if not self._nc.is_closed:
                log.warning("bus disconnected")

    async def _on_reconnected(self) -> None:
        self._up.set()
        metrics.RECONNECTS.inc()
        server = self._nc.connected_url
        log.info("bus reconnected", url=server and masked_url(server.geturl()))
        for call in list(self._on_reconnect):
            call()

    async def _on_closed(self) -> None:
        self.closed.set()

    # --- requests that are repeated until they are answered ---------------------------------------
    async def _store(self, message: Outgoing, headers: dict[str, str]) -> PubAck:
        limit = self.settings.reply_within
        answer = await self._nc.request(message.subject, message.body, timeout=limit, headers=headers)
        reply = json.loads(answer.data)
        if "error" not in reply:
            return PubAck(reply["stream"], reply["seq"], bool(reply.get("duplicate")))
        if reply["error"].get("err_code") == _STREAM_MESSAGE_TOO_LARGE:
            raise nats.errors.MaxPayloadError
        raise APIError.from_error(reply["error"])

    async def _until_answered(self, ask: Callable[[], Coroutine[Any, Any, T]], within: float) -> T:
        last: Exception | None = None
        try:
            async with asyncio.timeout(within):
                for attempt in itertools.count():
                    await self._connection()
                    try:
                        return await self._requests.answer(ask())
                    except _PERMANENT:
                        raise
                    except nats.errors.Error as error:
                        last = error  # no leader yet, stream full, connection lost: all are temporary
                    await asyncio.sleep(min(0.02 * 2**attempt, 1.0))
        except TimeoutError:
            pass
        cause = str(last) or type(last).__name__ if last else "disconnected"
        raise Outage(Reason.DEADLINE, f"the broker did not confirm within {within:g} s: {cause}")

    async def _connection(self) -> None:
        if not self._up.is_set():
            await ended_before(self.closed, self._up.wait())
        if self.closed.is_set():
            raise BusClosed(self._nc.last_error)
