"""A continuous pull loop for one consumer that notices lost requests.

Pull requests go to the consumer and messages come back on one inbox. A request is sent as soon as there is
demand, so that the next message is already on its way while one is handled. Every request asks for
heartbeats: when two are missing, the request counts as lost and is sent again. After a reconnection it is
sent again at once. A consumer that has disappeared is created again. Failed attempts are repeated with
growing pauses.

Source: NATS architecture decision records ADR-13 (pull requests) and ADR-37 (heartbeats, statuses).
"""

import asyncio
import enum
import json
import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import nats.errors
import structlog
from nats.aio.msg import Msg

from services.runtime.bus.connection import Bus
from services.runtime.bus.topology import Backoff, ConsumerSpec, ensure_consumer
from services.runtime.polling import pause

log = structlog.get_logger(__name__)

_NANOSECONDS = 1_000_000_000
_STATUS = "Status"
_UNFILLED = "Nats-Pending-Messages"


@dataclass(frozen=True, slots=True)
class PullSettings:
    """Timing of pull requests.

    Attributes:
        expires: Seconds until a request expires at the broker.
        heartbeat: Seconds between heartbeats of the broker; less than half of `expires`.
        backoff: Pause after consecutive rejected requests.
    """

    expires: float = 30.0
    heartbeat: float = 5.0
    backoff: Backoff = field(default_factory=lambda: Backoff(0.05, 5.0))


class PullStatus(enum.Enum):
    """Meaning of a status message from the broker for the pull loop."""

    HEARTBEAT = "the request is still pending"
    EXPIRED = "the request has ended; send a new one"
    LOST = "the requests were lost with the server that held them; send new ones at once"
    CONSUMER_MISSING = "there is no such consumer, or no server responds for it"
    REJECTED = "the request was rejected; wait and send a new one"


_BY_CODE = {
    "100": PullStatus.HEARTBEAT,
    "404": PullStatus.EXPIRED,
    "408": PullStatus.EXPIRED,
    "503": PullStatus.CONSUMER_MISSING,
}
_CONFLICTS = {
    "consumer deleted": PullStatus.CONSUMER_MISSING,
    "server shutdown": PullStatus.LOST,
    "leadership change": PullStatus.LOST,
    "batch completed": PullStatus.EXPIRED,
}


def pull_status(status: str, description: str) -> PullStatus:
    """Interpret a pull status.

    >>> pull_status("409", "Consumer Deleted").name, pull_status("408", "Request Timeout").name
    ('CONSUMER_MISSING', 'EXPIRED')
    """
    if status != "409":
        return _BY_CODE.get(status, PullStatus.REJECTED)
    conflict = description.lower()
    return next((meaning for words, meaning in _CONFLICTS.items() if words in conflict), PullStatus.REJECTED)


class Puller:
    """Pulls messages of one consumer while there is demand for them.

    Args:
        bus: Connection to the broker.
        spec: Declaration of the consumer, from which it is created again when it has disappeared.
        demand: Returns how many more messages to request now, given how many are requested and missing.
        take: Called with each message that arrives.
        settings: Timing of the requests.
    """

    def __init__(
        self,
        bus: Bus,
        spec: ConsumerSpec,
        demand: Callable[[int], int],
        take: Callable[[Msg], None],
        settings: PullSettings | None = None,
    ) -> None:
        self._bus = bus
        self._spec = spec
        self._demand = demand
        self._take = take
        self._settings = settings or PullSettings()
        self._inbox = bus.inbox()
        self.requests = 0  # number of requests sent so far
        self._outstanding = 0  # messages requested that have not arrived
        self._generation = 0  # statuses of requests of an earlier generation are ignored
        self._rejections = 0  # consecutive rejected requests
        self._consumer_missing = False
        self._last_heard = 0.0
        self._wake = asyncio.Event()
        self._stopping = False

    def poke(self) -> None:
        """Re-evaluate demand and pull if there is room."""
        self._wake.set()

    def stop(self) -> None:
        """Stop pulling. `run` returns when all messages that the broker has sent are taken."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Pull until stopped."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._bus.listen(f"{self._inbox}.*", self._on_message))
            stack.callback(self._bus.on_reconnect(self._reconnected))
            while not self._stopping:
                self._wake.clear()
                if self._rejections:
                    await self._pause()
                if not self._stopping and self._bus.connected and await self._consumer_exists():
                    await self._request()
                await self._until_woken_or_silent()

    async def _request(self) -> None:
        count = self._demand(self._outstanding)
        if count <= 0:
            return
        if self._outstanding == 0:
            self._last_heard = self._now()
        self._outstanding += count
        self.requests += 1
        body = {
            "batch": count,
            "expires": int(self._settings.expires * _NANOSECONDS),
            "idle_heartbeat": int(self._settings.heartbeat * _NANOSECONDS),
        }
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._spec.stream}.{self._spec.durable}"
        await self._bus.send(subject, json.dumps(body).encode(), f"{self._inbox}.{self._generation}")

    async def _on_message(self, msg: Msg) -> None:
        status = (msg.headers or {}).get(_STATUS) if not msg.reply else None
        if status is None:
            self._outstanding = max(0, self._outstanding - 1)
            self._on_sign_from_broker()
            self._take(msg)
        elif msg.subject == f"{self._inbox}.{self._generation}":
            self._on_status(status, msg.headers or {})
        self._wake.set()

    def _on_status(self, code: str, headers: dict[str, str]) -> None:
        description = headers.get("Description", "")
        status = pull_status(code, description)
        if status is PullStatus.HEARTBEAT:
            self._on_sign_from_broker()
        elif status is PullStatus.EXPIRED:
            unfilled = int(headers.get(_UNFILLED, self._outstanding))
            self._outstanding = max(0, self._outstanding - unfilled)
        else:
            log.warning("pull interrupted", consumer=self._spec.durable, status=code, why=description)
            self._write_off_requests()
            self._rejections += status is not PullStatus.LOST
            self._consumer_missing = status is PullStatus.CONSUMER_MISSING

    def _write_off_requests(self) -> None:
        """Count all requests as lost. Messages that arrive for them nevertheless are taken."""
        self._generation += 1
        self._outstanding = 0
        self._wake.set()

    def _reconnected(self) -> None:
        """Request again at once: rejections before the disconnection are no reason to wait."""
        self._rejections = 0
        self._write_off_requests()

    def _on_sign_from_broker(self) -> None:
        self._last_heard = self._now()
        self._rejections = 0

    async def _consumer_exists(self) -> bool:
        """Create the consumer again where it has disappeared; False when that fails."""
        if not self._consumer_missing:
            return True
        try:
            await ensure_consumer(self._bus.js, self._spec)
        except nats.errors.Error as error:  # the stream is missing, or there is no leader yet
            log.warning("consumer not created", consumer=self._spec.durable, error=str(error))
            self._rejections += 1
            self._wake.set()
            return False
        self._consumer_missing = False
        return True

    async def _pause(self) -> None:
        """Wait after rejected requests. `stop` and a reconnection end the wait, new demand does not."""
        # At least half of the ceiling: full jitter could draw zeros in a row, which is a busy loop.
        ceiling = self._settings.backoff.ceiling(self._rejections)
        until = self._now() + ceiling * random.uniform(0.5, 1.0)  # noqa: S311 (not a secret)
        while self._rejections and not self._stopping and (left := until - self._now()) > 0:
            self._wake.clear()
            await pause(left, self._wake)

    async def _until_woken_or_silent(self) -> None:
        until = None
        if self._outstanding and self._bus.connected:
            until = self._last_heard + 2 * self._settings.heartbeat
        try:
            async with asyncio.timeout_at(until):
                await self._wake.wait()
        except TimeoutError:
            if until is not None and self._now() - until > self._settings.heartbeat / 2:
                # This process stood still, and what the broker sent meanwhile is not read yet.
                self._last_heard = self._now()
                return
            log.warning("no heartbeat for the pull requests, sending new ones", consumer=self._spec.durable)
            self._write_off_requests()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
