"""Webhooks: where events of an arena are sent, and how far each receiver has come.

A process sends the events of a webhook while it has its lease, and stores what became of them under the lease
alone, so that a process which was suspended changes nothing after another one has taken over.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from nuggetstream.views.webhooks import WebhookView
from services.store.access.webhook_tables import webhook_deliveries, webhooks
from services.store.battles.battles import BattleRow
from services.store.database import Store, insert_into


class Webhook(WebhookView):
    """A webhook as stored: with its whole URL, its secrets, and how far its receiver has come."""

    secret: str = Field(repr=False)
    """Signs its events."""
    previous_secret: str | None = Field(None, repr=False)
    """Signs them as well for a while after a rotation; None without one."""
    cursor: int
    """Events up to this position were accepted or are set aside."""
    enabled: bool = True
    failures: int = 0

    def secrets_at(self, now: datetime) -> tuple[str, ...]:
        """The secrets that sign what is sent at a time, the newest first."""
        until = self.previous_secret_until
        if self.previous_secret is None or until is None or until <= now:
            return (self.secret,)
        return (self.secret, self.previous_secret)

    def selects(self, battle: BattleRow) -> bool:
        """Whether events of a battle are sent."""
        languages = {battle.language, None if battle.detected is None else battle.detected.tag}
        return (
            battle.arena == self.arena
            and (not self.tags or not set(self.tags).isdisjoint(battle.tags))
            and (not self.languages or not languages.isdisjoint(self.languages))
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that a receiver has not accepted.

    Attributes:
        webhook_id: The webhook.
        battle_id: Battle of the event.
        sequence: Number of the event within the battle.
        kind: Its kind.
        position: Its position among the events of all battles.
        recorded_at: When it was recorded.
        attempts: Number of attempts so far.
        next_at: When it is sent again; None where it was given up.
        reason: Why the latest attempt failed.
    """

    webhook_id: str
    battle_id: str
    sequence: int
    kind: str
    position: int
    recorded_at: datetime
    attempts: int
    next_at: datetime | None
    reason: str


class Webhooks(Store):
    """The tables of webhooks. Every method may raise Outage or Unavailable."""

    async def add(self, webhook: Webhook) -> None:
        """Store a new webhook."""
        await self._database.write(
            lambda tx: tx.execute(insert(webhooks).values(webhook.model_dump())).rowcount
        )

    async def get(self, webhook_id: str) -> Webhook | None:
        """One webhook; None where there is none with this id."""
        query = _WEBHOOKS.where(webhooks.c.id == webhook_id)
        row = await self._database.read(lambda tx: tx.execute(query).one_or_none())
        return None if row is None else Webhook(**row._mapping)

    async def all(self, arenas: Collection[str] | None = None) -> list[Webhook]:
        """The webhooks of some arenas, or of all, the oldest first."""
        query = _WEBHOOKS.order_by(webhooks.c.created_at, webhooks.c.id)
        if arenas is not None:
            query = query.where(webhooks.c.arena.in_(sorted(arenas)))
        return await self._database.read(lambda tx: [Webhook(**row._mapping) for row in tx.execute(query)])

    async def remove(self, webhook_id: str) -> bool:
        """Delete a webhook with all that waits for it; False where there is none."""

        def work(tx: Connection) -> bool:
            tx.execute(delete(webhook_deliveries).where(webhook_deliveries.c.webhook_id == webhook_id))
            return tx.execute(delete(webhooks).where(webhooks.c.id == webhook_id)).rowcount > 0

        return await self._database.write(work)

    async def switches(self) -> dict[str, bool]:
        """Ids of all webhooks, and whether their events are sent."""
        query = select(webhooks.c.id, webhooks.c.enabled).order_by(webhooks.c.id)
        return await self._database.read(lambda tx: {row.id: row.enabled for row in tx.execute(query)})

    async def rotate(self, webhook_id: str, secret: str, until: datetime) -> Webhook | None:
        """Give a webhook a new secret; the one that it has signs as well until a time.

        A secret that was replaced before ends at once.

        Returns:
            The webhook with the new secret; None where there is none with this id.
        """
        changed = {
            "previous_secret": webhooks.c.secret,
            "previous_secret_until": until,
            "secret": secret,
        }

        def work(tx: Connection) -> Webhook | None:
            if not tx.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(changed)).rowcount:
                return None
            return Webhook(**tx.execute(_WEBHOOKS.where(webhooks.c.id == webhook_id)).one()._mapping)

        return await self._database.write(work)

    async def lease(self, webhook_id: str, owner: str, now: datetime, seconds: float) -> Webhook | None:
        """Take the lease of a webhook for so many seconds, or extend one's own.

        Returns:
            The webhook; None where it is gone or switched off, or another owner has the lease.
        """
        free = or_(
            webhooks.c.lease_owner.is_(None), webhooks.c.lease_owner == owner, webhooks.c.lease_until < now
        )
        taken = update(webhooks).where(webhooks.c.id == webhook_id, webhooks.c.enabled, free)
        taken = taken.values(lease_owner=owner, lease_until=now + timedelta(seconds=seconds))

        def work(tx: Connection) -> Webhook | None:
            if not tx.execute(taken).rowcount:
                return None
            return Webhook(**tx.execute(_WEBHOOKS.where(webhooks.c.id == webhook_id)).one()._mapping)

        return await self._database.write(work)

    async def release(self, webhook_id: str, owner: str) -> None:
        """Give a lease back, if this owner has it."""
        mine = (webhooks.c.id == webhook_id) & (webhooks.c.lease_owner == owner)
        free = update(webhooks).where(mine).values(lease_owner=None, lease_until=None)
        await self._database.execute(free)

    async def save(
        self, webhook: Webhook, owner: str, set_aside: Sequence[Waiting], accepted: Sequence[Waiting]
    ) -> bool:
        """Store how far a receiver has come.

        Args:
            webhook: Its new state.
            owner: Who has the lease.
            set_aside: Events that it has not accepted.
            accepted: Events set aside before that need no further attempt.

        Returns:
            Whether it was stored; False where this owner has lost the lease, or the webhook is gone.
        """
        mine = (webhooks.c.id == webhook.id) & (webhooks.c.lease_owner == owner)
        changed = {name: value for name, value in webhook.model_dump().items() if name in _STATE}

        def work(tx: Connection) -> bool:
            if not tx.execute(update(webhooks).where(mine).values(changed)).rowcount:
                return False
            for waiting in accepted:
                tx.execute(delete(webhook_deliveries).where(_is(waiting)))
            for waiting in set_aside:
                row = asdict(waiting)
                statement = insert_into(tx.dialect.name, webhook_deliveries).values(row)
                new = {name: row[name] for name in ("attempts", "next_at", "reason")}
                tx.execute(statement.on_conflict_do_update(index_elements=_KEY, set_=new))
            return True

        return await self._database.write(work)

    async def due(self, webhook_id: str, now: datetime, limit: int) -> list[Waiting]:
        """Events whose next attempt is due, in the order in which they were recorded."""
        columns = webhook_deliveries.c
        query = select(webhook_deliveries).where(columns.webhook_id == webhook_id, columns.next_at <= now)
        query = query.order_by(columns.next_at, columns.position).limit(limit)
        waiting_events = await self._database.read(
            lambda tx: [Waiting(**row._mapping) for row in tx.execute(query)]
        )
        return sorted(waiting_events, key=lambda waiting: waiting.position)

    async def waiting(self, webhook_id: str) -> tuple[int, datetime | None]:
        """Number of events that wait for another attempt, and when the oldest of them was recorded."""
        columns = webhook_deliveries.c
        query = select(func.count(), func.min(columns.recorded_at, type_=columns.recorded_at.type))
        query = query.where(columns.webhook_id == webhook_id, columns.next_at.is_not(None))
        number, oldest = await self._database.read(lambda tx: tuple(tx.execute(query).one()))
        return int(number), oldest

    async def undelivered(self, webhook_id: str, limit: int) -> list[Waiting]:
        """Events that were not accepted: those given up, and then those that wait, the newest first."""
        columns = webhook_deliveries.c
        query = select(webhook_deliveries).where(columns.webhook_id == webhook_id)
        query = query.order_by(columns.next_at.is_not(None), columns.position.desc()).limit(limit)
        return await self._database.read(lambda tx: [Waiting(**row._mapping) for row in tx.execute(query)])

    async def retry(self, webhook_id: str, now: datetime) -> int | None:
        """Switch a webhook on, and send at once what waits for it and what was given up.

        Returns:
            Number of events that are sent again; None where there is no such webhook.
        """
        fresh = {"enabled": True, "failures": 0, "failing_since": None, "paused_until": None}
        again = update(webhook_deliveries).where(webhook_deliveries.c.webhook_id == webhook_id)

        def work(tx: Connection) -> int | None:
            if not tx.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(fresh)).rowcount:
                return None
            return tx.execute(again.values(attempts=0, next_at=now)).rowcount

        return await self._database.write(work)


_WEBHOOKS = select(*(column for column in webhooks.c if column.name not in ("lease_owner", "lease_until")))
_STATE = (
    "enabled", "cursor", "failures", "failing_since", "paused_until", "last_error", "accepted_at",
)  # fmt: skip
_KEY = [column.name for column in webhook_deliveries.primary_key]


def _is(waiting: Waiting) -> Any:
    columns = webhook_deliveries.c
    return (
        (columns.webhook_id == waiting.webhook_id)
        & (columns.battle_id == waiting.battle_id)
        & (columns.sequence == waiting.sequence)
        & (columns.kind == waiting.kind)
    )
