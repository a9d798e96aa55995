"""A continuous pull from one consumer that notices when the other side has gone quiet.

Pull requests go to the consumer and messages come back on one inbox. A new request leaves as soon as
there is demand, so the next message is already on its way while one is handled. Every request asks
for heartbeats: silence for two of them means that the request is lost and it is made again. After a
reconnection it is made again at once. A consumer that has disappeared is created again, with growing
pauses, so that nothing spins.

Source: NATS architecture decision records ADR-13 (pull requests) and ADR-37 (heartbeats, statuses).
"""

import asyncio
import enum
import json
import random
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import nats.errors
import structlog
from nats.aio.msg import Msg

from services.runtime.bus.connection import Bus
from services.runtime.bus.topology import Backoff, ConsumerSpec, ensure_consumer

log = structlog.get_logger(__name__)

_NANOSECONDS = 1_000_000_000
_STATUS = "Status"
_UNFILLED = "Nats-Pending-Messages"


@dataclass(frozen=True, slots=True)
class PullSettings:
    """The rhythm of pulling.

    Attributes:
        expires: seconds a request waits at the broker.
        heartbeat: seconds between signs of life from the broker; less than half of `expires`.
        trouble: the pause after each refusal in a row.
    """

    expires: float = 30.0
    heartbeat: float = 5.0
    trouble: Backoff = field(default_factory=lambda: Backoff(0.05, 5.0))


class Meaning(enum.Enum):
    """What a status from the broker means for the pull."""

    ALIVE = "the request stands"
    ENDED = "the request ran out, ask again"
    MOVED = "the requests are gone with the server that held them, ask again"
    GONE = "there is no such consumer, or nobody to ask"
    REFUSED = "not like this or not now"


def meaning_of(status: str, description: str) -> Meaning:
    """Interpret a pull status.

    >>> meaning_of("409", "Consumer Deleted").name, meaning_of("408", "Request Timeout").name
    ('GONE', 'ENDED')
    """
    match status:
        case "100":
            return Meaning.ALIVE
        case "404" | "408":
            return Meaning.ENDED
        case "503":
            return Meaning.GONE
        case "409":
            return _conflict(description.lower())
        case _:
            return Meaning.REFUSED


def _conflict(description: str) -> Meaning:
    if "consumer deleted" in description:
        return Meaning.GONE
    if "server shutdown" in description or "leadership change" in description:
        return Meaning.MOVED
    return Meaning.ENDED if "batch completed" in description else Meaning.REFUSED


class Puller:
    """Pulls messages of one consumer while there is demand for them.

    Args:
        bus: the connection.
        spec: the consumer; created again from this when it has disappeared.
        demand: given how many are requested and not yet here, how many more to request now.
        take: called with each message as it arrives.
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
        self.requests = 0  # sent so far
        self._outstanding = 0
        self._generation = 0  # requests of an earlier generation are forgotten; so are their statuses
        self._refusals = 0
        self._gone = False
        self._last_heard = 0.0
        self._wake = asyncio.Event()
        self._stopping = False

    def poke(self) -> None:
        """Demand may have changed."""
        self._wake.set()

    def stop(self) -> None:
        """Pull no more. `run` returns when everything the broker had sent has been taken."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Pull until stopped."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._bus.listen(f"{self._inbox}.*", self._heard))
            stack.callback(self._bus.on_reconnect(self._reconnected))
            while not self._stopping:
                self._wake.clear()
                if self._refusals:
                    await self._pause()
                if not self._stopping and self._bus.connected and await self._consumer_is_there():
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
        await self._bus.tell(subject, json.dumps(body).encode(), f"{self._inbox}.{self._generation}")

    async def _heard(self, msg: Msg) -> None:
        status = (msg.headers or {}).get(_STATUS) if not msg.reply else None
        if status is None:
            self._outstanding = max(0, self._outstanding - 1)
            self._all_is_well()
            self._take(msg)
        elif msg.subject == f"{self._inbox}.{self._generation}":
            self._heed(status, msg.headers or {})
        self._wake.set()

    def _heed(self, status: str, headers: dict[str, str]) -> None:
        description = headers.get("Description", "")
        meaning = meaning_of(status, description)
        if meaning is Meaning.ALIVE:
            self._all_is_well()
        elif meaning is Meaning.ENDED:
            unfilled = int(headers.get(_UNFILLED, self._outstanding))
            self._outstanding = max(0, self._outstanding - unfilled)
        else:
            log.warning("pull interrupted", consumer=self._spec.durable, status=status, why=description)
            self._forget()
            self._refusals += meaning is not Meaning.MOVED
            self._gone = meaning is Meaning.GONE

    def _forget(self) -> None:
        """Whatever was requested will not come, or may: then it is taken as well."""
        self._generation += 1
        self._outstanding = 0
        self._wake.set()

    def _reconnected(self) -> None:
        """Ask again at once; what went wrong before the disconnection is no reason to wait."""
        self._refusals = 0
        self._forget()

    def _all_is_well(self) -> None:
        self._last_heard = self._now()
        self._refusals = 0

    async def _consumer_is_there(self) -> bool:
        """Create the consumer again where it has disappeared; False when that did not succeed."""
        if not self._gone:
            return True
        try:
            await ensure_consumer(self._bus.js, self._spec)
        except nats.errors.Error as error:  # the stream is missing, or there is no leader yet
            log.warning("consumer not created", consumer=self._spec.durable, error=str(error))
            self._refusals += 1
            self._wake.set()
            return False
        self._gone = False
        return True

    async def _pause(self) -> None:
        """Let a refusal pass. Cut short by `stop` and by a reconnection, not by demand."""
        # At least half of the ceiling: full jitter could draw zeros in a row, which is a busy loop.
        ceiling = self._settings.trouble.ceiling(self._refusals)
        until = self._now() + ceiling * random.uniform(0.5, 1.0)  # noqa: S311 (not a secret)
        while self._refusals and not self._stopping and (left := until - self._now()) > 0:
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), left)

    async def _until_woken_or_silent(self) -> None:
        left = None
        if self._outstanding and self._bus.connected:
            left = self._last_heard + 2 * self._settings.heartbeat - self._now()
        try:
            async with asyncio.timeout(left):
                await self._wake.wait()
        except TimeoutError:
            log.warning("pull is silent, asking again", consumer=self._spec.durable)
            self._forget()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
