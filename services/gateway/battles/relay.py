"""Publishing what was accepted: right after the commit, and later what the broker did not take then.

    accepted, in one transaction with its messages  ->  published  ->  deleted from the outbox

A message whose publication is not confirmed stays in the outbox. Every gateway publishes those that are older
than a publication takes, whichever gateway accepted them, so that a crash or a broker that is away delays a
battle and loses none. A message that is published twice has one id, and the broker or its readers drop it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from services.runtime.bus import Bus, Outgoing
from services.runtime.errors import Permanent, Unavailable
from services.runtime.metrics import OUTBOX_MESSAGES
from services.runtime.polling import pause
from services.store.work.outbox import Outbox

log = structlog.get_logger(__name__)

_INTERVAL = 1.0  # seconds between passes
_OLDER = timedelta(seconds=6)  # than the publication after the commit takes, and the deletion of the row
_PAGE = 500  # messages per pass
_LIMIT = 100_000  # messages that wait before no more are accepted


@dataclass(slots=True)
class Relay:
    """Publishes the messages of the outbox.

    Attributes:
        bus: Connection to the broker.
        outbox: Messages that are not yet known to be published.
        within: Seconds until a broker that does not answer counts as unavailable. It is short, since a client
            is waiting.
    """

    bus: Bus
    outbox: Outbox
    within: float = 5.0
    waiting: int = field(default=0, init=False)  # messages, as the last pass has left them
    rejected: str | None = field(default=None, init=False)  # why the broker did not take the last message
    _published: list[str] = field(default_factory=list, init=False)  # whose rows are not yet deleted

    async def publish(self, messages: Sequence[Outgoing]) -> None:
        """Publish messages that are in the outbox; those that the broker does not take now stay there."""
        if messages and self.bus.connected:
            self._published += await self._publish_all(messages)

    async def run(self, stop: asyncio.Event) -> None:
        """Publish what is left every second until `stop` is set."""
        while not stop.is_set():
            try:
                await self.relay(_OLDER)
            except Unavailable as error:
                log.debug("the outbox cannot be read now", why=error.for_operators)
            await pause(_INTERVAL, stop)
        with suppress(Unavailable):
            await self._forget()

    async def relay(self, older: timedelta) -> int:
        """One pass over at most 500 messages.

        Args:
            older: How long ago a message must have been stored.

        Returns:
            Number of messages that were published.

        Raises:
            Unavailable: The database does not answer.
        """
        await self._forget()
        done = await self.outbox.relay(self._publish_all, older, _PAGE) if self.bus.connected else 0
        self.waiting = await self.outbox.count()
        OUTBOX_MESSAGES.set(self.waiting)
        if not self.waiting:  # another gateway may have published what this one could not
            self.rejected = None
        return done

    async def problem(self) -> str | None:
        """Why no more can be accepted: the outbox is full. None while it has room."""
        if self.waiting < _LIMIT:
            return None
        return f"{self.waiting:,} messages of accepted battles and votes wait for the broker"

    async def _forget(self) -> None:
        """Delete the rows of messages that were published right after their commit."""
        published, self._published = self._published, []
        if published:
            try:
                await self.outbox.forget(published)
            except Unavailable:
                self._published += published
                raise

    async def _publish_all(self, messages: Sequence[Outgoing]) -> list[str]:
        """Publish messages; the ids of those that need not be published any more."""
        done = await asyncio.gather(*map(self._is_done, messages))
        return [message.id for message, is_done in zip(messages, done, strict=True) if is_done]

    async def _is_done(self, message: Outgoing) -> bool:
        try:
            await self.bus.publish(message, self.within)
        except Unavailable as error:
            log.warning("a message stays in the outbox", message_id=message.id, why=error.detail)
            self.rejected = error.detail
            return False
        except Permanent:  # it would be in the way for ever
            log.exception("a message that cannot be published is dropped", message_id=message.id)
        self.rejected = None
        return True
