"""One connection to NATS that is expected to break.

Everything that must be answered (a publication, an acknowledgement) is asked until it is, across
reconnections, within a time limit. Asking twice does no harm: publications carry their id, and
acknowledging twice acknowledges once.
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
from services.runtime.bus.settings import DRAIN_WITHIN, BusSettings
from services.runtime.errors import Permanent, Unavailable

log = structlog.get_logger(__name__)
T = TypeVar("T")

_STREAM_MESSAGE_TOO_LARGE = 10054
# Seconds until a last word is repeated. Short, because a broker that was killed ignores words about
# deliveries it forgot, and repeating one does no harm.
_WORD_WITHIN = 0.25


class BusClosed(Unavailable):
    """The connection is closed for good: by us, or because the broker refused it (credentials)."""

    def __init__(self, cause: Exception | None = None) -> None:
        super().__init__(Reason.DEADLINE, f"the connection to the broker is closed: {cause or 'on request'}")


class Bus:
    """A connection to the broker. Made by `Bus.connect`."""

    def __init__(self, settings: BusSettings) -> None:
        self.settings = settings
        self.closed = asyncio.Event()
        self._nc = PatientClient()
        self._js = JetStreamContext(self._nc)
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._down_since: float | None = None
        self._on_reconnect: list[Callable[[], None]] = []

    @classmethod
    @asynccontextmanager
    async def connect(cls, settings: BusSettings) -> AsyncIterator[Self]:
        """Connect, and on leaving send what is pending and disconnect.

        Raises:
            Unavailable: when no server answers within `connect_within` seconds.
        """
        bus = cls(settings)
        await bus._open()
        try:
            yield bus
        finally:
            await bus._close()

    @property
    def js(self) -> JetStreamContext:
        """The JetStream API, for `ensure` and for administration."""
        return self._js

    @property
    def connected(self) -> bool:
        """Whether the broker can be reached now."""
        return self._up.is_set()

    @property
    def healthy(self) -> bool:
        """False when closed for good or disconnected for too long: restart the process."""
        if self.closed.is_set():
            return False
        return self._down_since is None or self._now() - self._down_since < self.settings.unhealthy_after

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each reconnection. Returns the function that ends that."""
        self._on_reconnect.append(call)
        return lambda: self._on_reconnect.remove(call)

    async def publish(self, message: Outgoing, within: float | None = None) -> PubAck:
        """Store a message in the stream that captures its subject.

        Survives a lost connection: the same id is published again until the broker confirms it.

        Args:
            message: what to store. A traceparent of the running span is added to its headers.
            within: seconds to try; `publish_within` by default.

        Raises:
            Unavailable: not confirmed in time. It may have been stored; its id makes repeating safe.
            Permanent: too large for the broker.
        """
        headers = tracing.inject(message.wire_headers())
        limit = self.settings.publish_within if within is None else within
        too_large = Permanent(Reason.TOO_LARGE, f"{len(message.body)} bytes for {message.subject}")
        if not self.fits(message):
            raise too_large
        try:
            return await self._until_answered(lambda: self._store(message, headers), limit)
        except nats.errors.MaxPayloadError:
            raise too_large from None

    def fits(self, message: Outgoing) -> bool:
        """Whether the broker takes a message of this size.

        It counts the headers too, which nats-py does not, and ends the connection for good over a
        message that is larger.
        """
        return wire_size(tracing.inject(message.wire_headers()), message.body) <= self._nc.max_payload

    async def confirm(self, reply: Callable[[], str], word: bytes, within: float) -> None:
        """Tell the broker what became of a delivery and wait until it has heard it.

        A lost acknowledgement would cost the whole job again, so the last word on a message is worth
        a round trip.

        Args:
            reply: where to say it, asked anew each time: the message may be delivered again meanwhile.
            word: what to say.
            within: seconds to try.

        Raises:
            Unavailable: not heard in time; the message will be delivered again.
        """
        await self._until_answered(lambda: self._nc.request(reply(), word, timeout=_WORD_WITHIN), within)

    async def tell(self, subject: str, body: bytes, reply: str = "") -> None:
        """Send without waiting for an answer, to those who will notice when none comes.

        Kept for later while disconnected; lost when too much is kept or the connection is closed.
        """
        try:
            await self._nc.publish(subject, body, reply=reply)
        except nats.errors.Error as error:
            log.warning("not sent", subject=subject, error=str(error) or type(error).__name__)

    async def core_publish(self, subject: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Tell whoever listens now; nothing is stored, nobody confirms."""
        await self._nc.publish(subject, body, headers=tracing.inject(headers or {}) or None)

    @asynccontextmanager
    async def core_subscribe(
        self, subject: str, handle: Callable[[Notification], Awaitable[None]], queue: str = ""
    ) -> AsyncIterator[None]:
        """Hear plain messages inside the block, in order; with `queue`, each goes to one member."""

        async def pass_on(msg: Msg) -> None:
            await handle(Notification(msg.subject, msg.data, dict(msg.headers or {})))

        async with self.listen(subject, pass_on, queue):
            yield

    @asynccontextmanager
    async def listen(
        self, subject: str, handle: Callable[[Msg], Awaitable[None]], queue: str = ""
    ) -> AsyncIterator[None]:
        """Subscribe inside the block. On leaving, what the broker already sent is handled first."""
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
        """A fresh subject for answers to this connection."""
        return self._nc.new_inbox()

    async def flush(self) -> None:
        """Return when the broker has read everything sent so far; at once while disconnected."""
        if self.connected:
            with suppress(nats.errors.Error, TimeoutError):
                await self._nc.flush(timeout=DRAIN_WITHIN)

    # --- the connection's life -----------------------------------------------------------------
    async def _open(self) -> None:
        try:
            async with asyncio.timeout(self.settings.connect_within):
                await self._nc.connect(
                    **self.settings.options(),
                    error_cb=self._heard_error,
                    disconnected_cb=self._lost,
                    reconnected_cb=self._back,
                    closed_cb=self._ended,
                )
        except TimeoutError:
            servers = ", ".join(self.settings.servers)
            raise Unavailable(Reason.DEADLINE, f"no broker at {servers}: {self._nc.last_error}") from None
        self._up.set()

    async def _close(self) -> None:
        with suppress(nats.errors.Error, TimeoutError):
            await (self._nc.drain() if self.connected else self._nc.close())

    async def _heard_error(self, error: Exception) -> None:
        # While disconnected every attempt reports one; a single line said that the broker is away.
        if self.connected:
            log.warning("bus error", error=str(error) or type(error).__name__)

    async def _lost(self) -> None:
        if self._up.is_set():
            self._up.clear()
            self._down.set()
            self._down_since = self._now()
            if not self._nc.is_closed:
                log.warning("bus disconnected")

    async def _back(self) -> None:
        self._down.clear()
        self._down_since = None
        self._up.set()
        metrics.RECONNECTS.inc()
        log.info("bus reconnected", url=self._nc.connected_url and self._nc.connected_url.netloc)
        for call in list(self._on_reconnect):
            call()

    async def _ended(self) -> None:
        self.closed.set()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    # --- asking until answered -----------------------------------------------------------------
    async def _store(self, message: Outgoing, headers: dict[str, str]) -> PubAck:
        limit = self.settings.reply_within
        answer = await self._nc.request(message.subject, message.body, timeout=limit, headers=headers)
        said = json.loads(answer.data)
        if "error" not in said:
            return PubAck(said["stream"], said["seq"], bool(said.get("duplicate")))
        if said["error"].get("err_code") == _STREAM_MESSAGE_TOO_LARGE:
            raise nats.errors.MaxPayloadError
        raise APIError.from_error(said["error"])

    async def _until_answered(self, ask: Callable[[], Coroutine[Any, Any, T]], within: float) -> T:
        last: Exception | None = None
        try:
            async with asyncio.timeout(within):
                for attempt in itertools.count():
                    await self._connection()
                    try:
                        return await self._unless_lost(ask())
                    except (nats.errors.MaxPayloadError, nats.errors.BadSubjectError):
                        raise
                    except nats.errors.Error as error:
                        last = error  # no leader yet, stream full, connection lost: all may pass
                    await asyncio.sleep(min(0.02 * 2**attempt, 1.0))
        except TimeoutError:
            pass
        cause = str(last) or type(last).__name__ if last else "disconnected"
        raise Unavailable(Reason.DEADLINE, f"the broker did not confirm within {within:g} s: {cause}")

    async def _connection(self) -> None:
        if not self._up.is_set():
            await _first(self._up.wait(), self.closed.wait())
        if self.closed.is_set():
            raise BusClosed(self._nc.last_error)

    async def _unless_lost(self, asking: Coroutine[Any, Any, T]) -> T:
        """Await an answer, or give up on it the moment the connection is lost instead of timing out."""
        answer = asyncio.ensure_future(asking)
        await _first(answer, self._down.wait())
        if not answer.done() or answer.cancelled():
            raise nats.errors.StaleConnectionError
        return answer.result()


async def _first(*awaitables: Awaitable[Any]) -> None:
    """Wait for the first of several, and end the others."""
    tasks = [asyncio.ensure_future(each) for each in awaitables]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
