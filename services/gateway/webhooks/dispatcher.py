"""The dispatcher of one webhook: sends its events, in the order in which they were recorded.

    events after the cursor, and those set aside whose time has come
        ->  accepted          forgotten
        ->  not accepted      set aside, tried again with growing pauses, given up after twelve attempts,
                              or after three where the receiver rejects the event itself (400, 413, 422 …)

The events of one battle follow each other; several battles are sent at once. The cursor moves on past events
that were set aside, so that one that a receiver always rejects holds up no other. It stops at
`Patience.waiting` of them, so that a receiver that is away costs a bounded number of rows; rejected ones soon
make room. Three failures in
a row pause the webhook.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nuggetstream.domain.identity import derived_id
from services.gateway.stream.reading import EventReader, StreamEvent
from services.gateway.webhooks.sender import NotAccepted, Sender
from services.runtime.metrics import WEBHOOK_DELIVERIES
from services.store.access.webhooks import Waiting, Webhook, Webhooks
from services.store.battles.event_tail import EventKey, EventTail

_BATTLES_AT_ONCE = 4
_RETRIES = 20  # events set aside that one round sends again


class LeaseLost(Exception):
    """Another process sends the events of this webhook now, or it was removed or switched off."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a receiver is waited for.

    Attributes:
        attempts: Attempts after which an event is given up.
        rejections: The same where the receiver answers that the event is at fault.
        first: Seconds before the second attempt; they double with every further one.
        longest: Most seconds between two attempts.
        failures: Failures in a row after which the webhook pauses.
        waiting: Events set aside, above which no new ones are sent.
        off_after: Time without any success after which the webhook is switched off.
        events: Events that are sent between two stored cursors.
        lease: Seconds for which a lease is taken.
    """

    attempts: int = 12
    rejections: int = 3
    first: float = 5.0
    longest: float = 3600.0
    failures: int = 3
    waiting: int = 100
    off_after: timedelta = timedelta(days=3)
    events: int = 100
    lease: float = 60.0

    def pause(self, failures: int, asked: float | None = None) -> timedelta:
        """The time until the next attempt after so many failures; longer where the receiver asks for it."""
        jitter = random.uniform(0.8, 1.2)  # noqa: S311 - so that receivers are not all tried at once
        seconds = min(self.longest, self.first * 2.0 ** min(failures - 1, 30)) * jitter
        return timedelta(seconds=max(seconds, min(asked or 0.0, self.longest)))


@dataclass(slots=True, eq=False)
class Dispatcher:
    """Sends the events of one webhook while its process has the lease.

    Attributes:
        store: The tables of webhooks.
        tail: Keys of events, in the database.
        events: Reads events.
        sender: Sends them.
        owner: Name of the process in leases.
        patience: How long a receiver is waited for.
        now: The time.
    """

    store: Webhooks
    tail: EventTail
    events: EventReader
    sender: Sender
    owner: str
    patience: Patience
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    oldest: datetime | None = field(default=None, init=False)
    _hook: Webhook = field(init=False)
    _leased_at: datetime | None = field(default=None, init=False)
    _set_aside: list[Waiting] = field(default_factory=list, init=False)
    _accepted: list[Waiting] = field(default_factory=list, init=False)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def deliver(self, webhook_id: str, stopped: asyncio.Event) -> bool:
        """Send what is due.

        Args:
            webhook_id: The webhook.
            stopped: Set when the process shuts down: then what is not sent yet is set aside.

        Returns:
            Whether there may be more at once.

        Raises:
            LeaseLost: This process may not send for this webhook.
            Unavailable: The database does not answer. What was sent since the last stored cursor is sent
                again.
        """
        self._stopped = stopped
        await self._lease(webhook_id)
        waiting, self.oldest = await self.store.waiting(webhook_id)
        paused = self._hook.paused_until
        if paused is not None and self.now() < paused:
            return False
        due = await self.store.due(webhook_id, self.now(), _RETRIES)
        if due:
            await self._again(due)
            return True
        if waiting >= self.patience.waiting:
            return False
        keys = await self.tail.after(self._hook.cursor, self.patience.events)
        if not keys:
            return False
        self.oldest = min(filter(None, (self.oldest, keys[0].recorded_at)))
        events = await self.events.read(keys, self._hook.selects)
        await self._send_all([event for event in events if self._wanted(event)], {})
        self._hook = self._hook.model_copy(update={"cursor": keys[-1].position})
        await self._save()
        return True

    def _wanted(self, event: StreamEvent) -> bool:
        return not self._hook.kinds or event.view.kind in self._hook.kinds

    async def _lease(self, webhook_id: str) -> None:
        """Read the webhook, which may have been changed, under a lease that does not end soon."""
        if self._lease_ends_soon():
            self._leased_at = self.now()
            hook = await self.store.lease(webhook_id, self.owner, self._leased_at, self.patience.lease)
        else:
            hook = await self.store.get(webhook_id)
        if hook is None or not hook.enabled:
            raise LeaseLost(webhook_id)
        self._hook = hook

    async def _keep_lease(self) -> None:
        """Extend the lease before it ends; an attempt takes less than what is left."""
        if self._lease_ends_soon():
            self._leased_at = self.now()
            hook = await self.store.lease(self._hook.id, self.owner, self._leased_at, self.patience.lease)
            if hook is None:
                raise LeaseLost(self._hook.id)
            self._hook = self._hook.model_copy(
                update={
                    "secret": hook.secret,
                    "previous_secret": hook.previous_secret,
                    "previous_secret_until": hook.previous_secret_until,
                }
            )

    def _lease_ends_soon(self) -> bool:
        at, third = self._leased_at, timedelta(seconds=self.patience.lease / 3)
        return at is None or self.now() - at > third

    async def _again(self, due: Sequence[Waiting]) -> None:
        keys = {
            EventKey(waiting.position, waiting.battle_id, waiting.sequence, waiting.recorded_at): None
            for waiting in due
        }
        earlier = {_identity(waiting.battle_id, waiting.sequence, waiting.kind): waiting for waiting in due}
        events = await self.events.read(list(keys), self._hook.selects)
        read = {_identity_of(event): event for event in events}
        # What is not found was deleted, or can no longer be read, which the log says.
        self._accepted += [waiting for name, waiting in earlier.items() if name not in read]
        await self._send_all([waiting for name, waiting in read.items() if name in earlier], earlier)
        await self._save()

    async def _send_all(
        self, events: Sequence[StreamEvent], earlier: dict[tuple[str, int, str], Waiting]
    ) -> None:
        """Send events: those of a battle one after the other, some battles at once."""
        battles: dict[str, list[StreamEvent]] = defaultdict(list)
        for event in events:
            battles[event.key.battle_id].append(event)
        at_once = asyncio.Semaphore(1 if self._hook.failures else _BATTLES_AT_ONCE)
        # After a pause, one attempt shows whether the receiver is back.
        most_failures = max(self.patience.failures, self._hook.failures + 1)

        async def send(of_battle: Sequence[StreamEvent]) -> None:
            async with at_once:
                for event_of_battle in of_battle:
                    before = earlier.get(_identity_of(event_of_battle))
                    if not self._stopped.is_set() and self._hook.failures < most_failures:
                        await self._attempt(event_of_battle, before)
                    elif before is None:
                        self._set_aside.append(_waiting(self._hook, event_of_battle, 0, self.now(), ""))

        results = await asyncio.gather(*map(send, battles.values()), return_exceptions=True)
        if errors := [result for result in results if result is not None]:
            raise errors[0]

    async def _attempt(self, event: StreamEvent, before: Waiting | None) -> None:
        await self._keep_lease()
        message_id = derived_id("webhook", self._hook.id, *_identity_of(event))
        try:
            await self.sender.send(self._hook, message_id, event.view.model_dump_json().encode())
        except NotAccepted as error:
            self._failed(event, 1 + (before.attempts if before else 0), error)
            return
        WEBHOOK_DELIVERIES.labels("accepted").inc()
        self._hook = self._hook.model_copy(
            update={
                "failures": 0,
                "failing_since": None,
                "paused_until": None,
                "last_error": None,
                "accepted_at": self.now(),
            }
        )
        if before is not None:
            self._accepted.append(before)

    def _failed(self, event: StreamEvent, attempts: int, error: NotAccepted) -> None:
        now, hook, patience = self.now(), self._hook, self.patience
        given_up = attempts >= (patience.rejections if error.rejects else patience.attempts)
        next_at = None if given_up else now + patience.pause(attempts, error.wait)
        self._set_aside.append(_waiting(hook, event, attempts, next_at, str(error)))
        WEBHOOK_DELIVERIES.labels("given_up" if given_up else "retried").inc()
        failures, since = hook.failures + 1, hook.failing_since or now
        paused = None
        if failures >= patience.failures or error.wait:
            paused = now + patience.pause(max(1, failures - patience.failures + 1), error.wait)
        off = error.gone or now - since >= patience.off_after
        self._hook = hook.model_copy(
            update={
                "failures": failures,
                "failing_since": since,
                "paused_until": paused,
                "last_error": f"{error}; switched off" if off else str(error),
                "enabled": not off,
            }
        )

    async def _save(self) -> None:
        set_aside, accepted = self._set_aside, self._accepted
        self._set_aside, self._accepted = [], []
        if not await self.store.save(self._hook, self.owner, set_aside, accepted):
            raise LeaseLost(self._hook.id)


def _identity(battle_id: str, number: int, kind: str) -> tuple[str, int, str]:
    return (battle_id, number, kind)


def _identity_of(event: StreamEvent) -> tuple[str, int, str]:
    return _identity(event.key.battle_id, event.key.sequence, event.view.kind)


def _waiting(
    hook: Webhook, event: StreamEvent, attempts: int, next_at: datetime | None, reason: str
) -> Waiting:
    return Waiting(
        webhook_id=hook.id,
        battle_id=event.key.battle_id,
        sequence=event.key.sequence,
        kind=event.view.kind,
        position=event.key.position,
        recorded_at=event.key.recorded_at,
        attempts=attempts,
        next_at=next_at,
        reason=reason,
    )
