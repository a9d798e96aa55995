"""API keys and users of a trusted proxy, and what belongs to them: logins of the pages, quotas, secrets.

Callers hash secrets; nothing here sees one. A row of a key is never deleted: the audit log names it, and a
platform whose last key was revoked must not become open to everybody.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from services.store.access.tables import access_secrets, api_keys, key_usage, page_sessions
from services.store.database import Store, inserting_new


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key, or a user of a trusted proxy, as stored.

    Attributes:
        id: Public part of the key, by which the audit log names it.
        name: What it is for, in an operator's words.
        hash: SHA-256 of its secret in hexadecimal; None for a user of a proxy.
        proxy_user: Name of that user; None for a key.
        roles: Names of its roles.
        arenas: Arenas in which it has them; None for all.
        per_minute: Requests per minute and process; None without a limit.
        battles_per_day: Battles that it may submit per day (UTC); None without a limit.
        created_at: When it was created.
        expires_at: From when it is invalid; None without an end.
        revoked_at: When it was revoked; None where it was not.
        replaces: Id of the key that it was rotated from; None where it was created.
    """

    id: str
    name: str
    hash: str | None
    proxy_user: str | None
    roles: tuple[str, ...]
    arenas: tuple[str, ...] | None
    per_minute: int | None
    battles_per_day: int | None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    replaces: str | None = None

    def valid_at(self, now: datetime) -> bool:
        """Whether it can be used at a time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class ApiKeys(Store):
    """The keys of the platform. Every method may raise Outage or Unavailable."""

    async def exist(self) -> bool:
        """Whether a key was ever created."""
        return await self._database.scalar(select(api_keys.c.id).limit(1)) is not None

    async def get(self, key_id: str) -> StoredKey | None:
        """One key; None where there is none with this id."""
        return await self._one(api_keys.c.id == key_id)

    async def of_user(self, proxy_user: str) -> StoredKey | None:
        """The row of a user of a trusted proxy; None where the user has none."""
        return await self._one(api_keys.c.proxy_user == proxy_user)

    async def all(self) -> list[StoredKey]:
        """All keys, the oldest first, revoked and expired ones included."""
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)
        return await self._database.read(lambda tx: [_stored(row) for row in tx.execute(query)])

    async def add(self, key: StoredKey) -> None:
        """Store a new key."""
        await self._database.write(lambda tx: _insert(tx, key))

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key and end its logins; the first time counts. False where there is no such key."""

        def work(tx: Connection) -> bool:
            stored = tx.scalar(select(api_keys.c.id).where(api_keys.c.id == key_id))
            unrevoked = (api_keys.c.id == key_id) & api_keys.c.revoked_at.is_(None)
            # A revoked user may be created again, so the name is given up.
            tx.execute(update(api_keys).where(unrevoked).values(revoked_at=at, proxy_user=None))
            tx.execute(delete(page_sessions).where(page_sessions.c.key_id == key_id))
            return stored is not None

        return await self._database.write(work)

    async def rotate(
        self, key: StoredKey, hash_: str, new_id: str, at: datetime, until: datetime
    ) -> StoredKey:
        """Store a key with the rights of another one, which expires at `until` if not sooner."""
        new = replace(key, id=new_id, hash=hash_, created_at=at, replaces=key.id, expires_at=key.expires_at)
        old = (api_keys.c.id == key.id) & or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > until)

        def work(tx: Connection) -> None:
            _insert(tx, new)
            tx.execute(update(api_keys).where(old).values(expires_at=until))

        await self._database.write(work)
        return new

    async def take(self, key_id: str, battles: int, limit: int, day: date) -> int:
        """Count battles that a key submits on a day, as far as its limit allows.

        Returns:
            Number of battles that it may submit, from 0 to `battles`.
        """
        mine = (key_usage.c.key_id == key_id) & (key_usage.c.day == day.isoformat())
        row = {"key_id": key_id, "day": day.isoformat(), "battles": 0}
        first = inserting_new(self._database.engine.dialect.name, key_usage).values(row)

        def work(tx: Connection) -> int:
            if tx.execute(first).rowcount:
                tx.execute(delete(key_usage).where(key_usage.c.day < day.isoformat()))
            used = int(tx.scalar(select(key_usage.c.battles).where(mine).with_for_update()) or 0)
            taken = max(0, min(battles, limit - used))
            tx.execute(update(key_usage).where(mine).values(battles=used + taken))
            return taken

        return await self._database.write(work)

    async def used(self, day: date) -> dict[str, int]:
        """Battles that each key with a quota submitted on a day."""
        query = select(key_usage.c.key_id, key_usage.c.battles).where(key_usage.c.day == day.isoformat())
        return await self._database.read(lambda tx: {row.key_id: row.battles for row in tx.execute(query)})

    async def open_session(self, hash_: str, key_id: str, now: datetime, until: datetime) -> None:
        """Store a login, and forget those that have expired."""
        values = {"hash": hash_, "key_id": key_id, "expires_at": until}

        def work(tx: Connection) -> None:
            tx.execute(delete(page_sessions).where(page_sessions.c.expires_at <= now))
            tx.execute(insert(page_sessions).values(values))

        await self._database.write(work)

    async def session(self, hash_: str) -> tuple[str, datetime] | None:
        """The key of a login and when it ends; None where there is no such login."""
        query = select(page_sessions.c.key_id, page_sessions.c.expires_at)
        query = query.where(page_sessions.c.hash == hash_)
        row = await self._database.row(query)
        return None if row is None else (row.key_id, row.expires_at)

    async def close_session(self, hash_: str) -> None:
        """End a login; ending it twice changes nothing."""
        await self._database.execute(delete(page_sessions).where(page_sessions.c.hash == hash_))

    async def secret(self, name: str, new: Callable[[], str]) -> str:
        """A secret that all services share; the first one to ask makes it."""
        query = select(access_secrets.c.secret).where(access_secrets.c.name == name)
        if (stored := await self._database.scalar(query)) is not None:
            return str(stored)
        made = inserting_new(self._database.engine.dialect.name, access_secrets)
        values = {"name": name, "secret": new()}

        def work(tx: Connection) -> str:
            tx.execute(made, values)
            return str(tx.scalar(query))

        return await self._database.write(work)

    async def _one(self, condition: ColumnElement[bool]) -> StoredKey | None:
        row = await self._database.row(select(api_keys).where(condition))
        return None if row is None else _stored(row)


def _insert(tx: Connection, key: StoredKey) -> None:
    arenas = None if key.arenas is None else list(key.arenas)
    tx.execute(insert(api_keys).values(asdict(key) | {"roles": list(key.roles), "arenas": arenas}))


def _stored(row: Any) -> StoredKey:
    values = dict(row._mapping)
    values["roles"] = tuple(values["roles"])
    values["arenas"] = None if values["arenas"] is None else tuple(values["arenas"])
    return StoredKey(**values)


def today(now: datetime) -> date:
    """The day of a quota, in UTC."""
    return now.astimezone(UTC).date()
