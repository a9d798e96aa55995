"""What scrapers have fetched, and when they may fetch again, in the database that all of them share."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Connection, Float, cast, delete, extract, func, select

from services.runtime.polling import keep_at
from services.store.content.blobs import Blobs
from services.store.content.fetch_tables import fetched_pages, host_pauses, robots_files
from services.store.database import Database, insert_into
from services.store.work.claims import DatabaseClaims

_SWEEP_INTERVAL = 600.0  # seconds
_PAUSE_AGE = 600.0  # seconds after which a pause that is over is deleted
_JULIAN_1970, _DAY = 2_440_587.5, 86_400.0  # the Julian day of 1970-01-01, and seconds per day


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The last outcome of a page.

    Attributes:
        outcome: What the scraper stored about it, without its text.
        text: Text of the page; None when the page is not usable.
        fetched_at: When it was fetched, or confirmed to be unchanged.
    """

    outcome: Mapping[str, Any]
    text: str | None
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class FetchedRobots:
    """A robots.txt.

    Attributes:
        body: The file; None when the origin has none.
        fetched_at: When it was fetched.
    """

    body: str | None
    fetched_at: datetime


class FetchedPages:
    """Pages, robots.txt files and pauses that all scrapers share. Every method may raise `Unavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._blobs = Blobs(database)

    @property
    def claims(self) -> DatabaseClaims | None:
        """Claims on addresses; None with SQLite, which only one process uses."""
        return None if self._database.is_sqlite else DatabaseClaims(self._database)

    @property
    def pauses(self) -> "FetchedPages | None":
        """Pauses between requests to a host; None with SQLite, as for claims."""
        return None if self._database.is_sqlite else self

    async def page(self, url: str) -> FetchedPage | None:
        """The last outcome of a page; None when there is none, or when its text was deleted."""
        row = await self._database.row(select(fetched_pages).where(fetched_pages.c.key == key_of(url)))
        if row is None:
            return None
        if row.content_hash is None:
            return FetchedPage(row.outcome, None, row.fetched_at)
        body = await self._blobs.get_blob(row.content_hash)
        return None if body is None else FetchedPage(row.outcome, body.decode("utf-8"), row.fetched_at)

    async def put_page(self, url: str, page: FetchedPage, battle_id: str) -> None:
        """Store the outcome of a page, with the battle that it is deleted with."""
        [content] = [None] if page.text is None else await self._blobs.put_texts([page.text], battle_id)
        row = {
            "key": key_of(url),
            "battle_id": battle_id,
            "content_hash": content,
            "outcome": dict(page.outcome),
            "fetched_at": page.fetched_at,
        }
        await self._database.replace(fetched_pages, row)

    async def robots(self, origin: str) -> FetchedRobots | None:
        """The robots.txt of an origin as fetched last; None when it is not known."""
        row = await self._database.row(select(robots_files).where(robots_files.c.key == key_of(origin)))
        return None if row is None else FetchedRobots(row.body, row.fetched_at)

    async def put_robots(self, origin: str, robots: FetchedRobots) -> None:
        """Store the robots.txt of an origin."""
        # PostgreSQL rejects NUL characters.
        body = None if robots.body is None else robots.body.replace("\x00", "\ufffd")
        row = {"key": key_of(origin), "body": body, "fetched_at": robots.fetched_at}
        await self._database.replace(robots_files, row)

    async def reserve(self, host: str, delay: float, max_wait: float) -> float | None:
        """Reserve the next request to a host.

        Args:
            host: Name of the host.
            delay: Seconds until the request after this one may start.
            max_wait: Longest wait in seconds.

        Returns:
            Seconds to wait before the request; None when it would be more than `max_wait`, and nothing is
            reserved then.
        """

        def work(connection: Connection) -> float | None:
            now, latest = _now_and_greatest(connection)
            table = host_pauses.c
            statement = insert_into(connection.dialect.name, host_pauses)
            statement = statement.values(key=key_of(host), next_start=now + delay)
            statement = statement.on_conflict_do_update(
                index_elements=["key"],
                set_={"next_start": latest(table.next_start, now) + delay},
                where=table.next_start <= now + max_wait,
            )
            wait: float | None = connection.scalar(statement.returning(table.next_start - delay - now))
            return None if wait is None else max(0.0, float(wait))

        return await self._database.write(work)

    async def sweep(self, robots_before: datetime) -> None:
        """Delete pauses that ended ten minutes ago, and robots.txt files from before a time."""

        def work(connection: Connection) -> None:
            now, _ = _now_and_greatest(connection)
            connection.execute(delete(host_pauses).where(host_pauses.c.next_start < now - _PAUSE_AGE))
            connection.execute(delete(robots_files).where(robots_files.c.fetched_at < robots_before))

        await self._database.write(work)

    async def sweep_regularly(self, robots_age: timedelta, stop: asyncio.Event) -> None:
        """Sweep every ten minutes until `stop` is set."""
        warning = "old entries of the scrapers are not deleted now"
        await keep_at(lambda: self.sweep(datetime.now(UTC) - robots_age), _SWEEP_INTERVAL, stop, warning)


def key_of(address: str) -> str:
    """The key of a URL, an origin or a host."""
    return sha256(address.encode()).hexdigest()


def _now_and_greatest(connection: Connection) -> tuple[ColumnElement[Any], Any]:
    """The time of the database in seconds since 1970, and the function that returns the later of two."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now") - _JULIAN_1970) * _DAY, func.max
    return cast(extract("epoch", func.clock_timestamp()), Float), func.greatest
