"""Several scrapers over one database fetch a page once, and pause together between requests to a host."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from services.scraper.clock import Clock
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import Quality
from services.scraper.settings import ScraperSettings
from services.store.battles.deletion import Deletions
from services.store.content.fetch_tables import fetched_pages, host_pauses, robots_files
from services.store.content.fetched_pages import FetchedPages, key_of
from services.store.database import Database
from services.store.work.claims import DatabaseClaims
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.conftest import database_url as database_url  # noqa: PLC0414
from tests.integration.store.conftest import postgres as postgres  # noqa: PLC0414
from tests.stored import LATER, evaluate, places_of

Settings = Callable[..., ScraperSettings]
Scraping = Callable[..., Any]


class Later(Clock):
    """The system's clock, some seconds ahead."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return super().now() + self.ahead


@pytest.fixture
async def scraper(settings: Settings) -> AsyncIterator[Scraping]:
    """Starts another scraper, some seconds in the future."""
    async with AsyncExitStack() as stack:

        async def start(database: Database, ahead: float = 0.0, **changes: Any) -> PageFetcher:
            fetcher = PageFetcher(settings(**changes), clock=Later(ahead), store=FetchedPages(database))
            return await stack.enter_async_context(fetcher)

        yield start


async def count(database: Database, table: Any) -> int:
    async with database.reading() as tx:
        return len((await tx.execute(select(table.c.key))).all())


async def test_a_page_is_fetched_once_per_age_and_then_only_if_it_changed(
    site: Any, scraper: Scraping, article: Any, database: Database
) -> None:
    site.put("/robots.txt", b"User-agent: *\nDisallow: /private", kind="text/plain")
    old = site.put("/old", status="301 Moved", Location="/owls")
    site.put("/owls", article("Owls at night"), ETag='"v1"', Last_Modified="Sun, 01 Nov 2026 10:00:00 GMT")
    first = await (await scraper(database)).fetch(old, "oolong")
    again = await (await scraper(database)).fetch(old + "?utm_source=x", "sencha")
    assert (site.asked["/owls"], site.asked["/robots.txt"]) == (1, 1)
    assert (again.text, again.title, again.final_url) == (first.text, first.title, site.url("/owls"))
    assert (again.fetched_at, again.quality) == (first.fetched_at, Quality.OK)
    assert first.text

    site.put("/owls", status="304 Not Modified", kind="")
    unchanged = await (await scraper(database, ahead=1000)).fetch(old, "sencha")
    assert 'If-None-Match: "v1"\r\nIf-Modified-Since: Sun, 01 Nov 2026 10:00:00 GMT' in site.heads[-1]
    assert "If-None-Match" not in site.heads[-2], "the redirect has no version"
    assert (unchanged.text, unchanged.quality) == (first.text, Quality.OK)
    assert unchanged.fetched_at > first.fetched_at
    assert (await (await scraper(database, ahead=1500)).fetch(old)).text == first.text
    assert site.asked["/owls"] == 2

    site.put("/owls", article("Owls by day"))
    changed = await (await scraper(database, ahead=2500)).fetch(old, "sencha")
    assert changed.title == "Owls by day"
    assert (site.asked["/owls"], site.asked["/robots.txt"]) == (3, 1)


async def test_a_rejected_page_is_remembered_with_its_reason_and_a_timeout_only_briefly(
    site: Any, scraper: Scraping, database: Database
) -> None:
    missing, broken = site.url("/missing"), site.put("/broken", b"oops", "503 Service Unavailable")
    one, other = await scraper(database), await scraper(database)
    for url, quality in ((missing, Quality.NOT_FOUND), (broken, Quality.HTTP_ERROR)):
        outcome = await one.fetch(url, "oolong")
        assert (outcome.quality, await other.fetch(url, "sencha")) == (quality, outcome)
    later = await scraper(database, ahead=60)
    await later.fetch(missing, "oolong")
    await later.fetch(broken, "oolong")
    assert (site.asked["/missing"], site.asked["/broken"]) == (1, 2)


async def test_a_304_that_nobody_asked_for_is_an_error(
    site: Any, scraper: Scraping, database: Database
) -> None:
    url = site.put("/odd", status="304 Not Modified", kind="")
    assert (await (await scraper(database)).fetch(url, "oolong")).quality is Quality.HTTP_ERROR


async def test_scrapers_that_want_a_page_at_the_same_time_fetch_it_once(
    site: Any, scraper: Scraping, article: Any, postgres: Database
) -> None:
    may_answer = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        await may_answer.wait()
        body = article()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body))
        writer.write(body)

    url = site.script("/owls", slow)
    one, other = await scraper(postgres), await scraper(postgres)
    first = asyncio.create_task(one.fetch(url, "oolong"))
    while not site.asked["/owls"]:
        await asyncio.sleep(0.01)
    second = asyncio.create_task(other.fetch(url, "sencha"))
    done, _ = await asyncio.wait({second}, timeout=0.6)
    assert not done
    may_answer.set()
    assert (await first).text == (await second).text
    assert (site.asked["/owls"], site.asked["/robots.txt"]) == (1, 1)
    assert await DatabaseClaims(postgres).take([key_of(f"page {url}")], "a third", 1.0), "released"


async def test_scrapers_pause_together_between_requests_to_a_host(
    site: Any, scraper: Scraping, article: Any, postgres: Database
) -> None:
    pages = [site.put(path, article()) for path in ("/a", "/b")]
    slow = {"allowed_host_delay": 1000.0, "queue_seconds": 5.0}
    first = await (await scraper(postgres, **slow)).fetch(pages[0], "oolong")
    second = await (await scraper(postgres, **slow)).fetch(pages[1], "oolong")
    assert (first.quality, second.quality) == (Quality.OK, Quality.TIMEOUT)
    assert "waited 5 s for other requests" in second.detail
    assert site.asked["/b"] == 0


async def test_requests_to_a_host_are_reserved_one_after_the_other(database: Database) -> None:
    pauses = FetchedPages(database)
    assert await pauses.reserve("example.org", 1000.0, 5000.0) == 0.0
    waits = [await pauses.reserve("example.org", 1000.0, 5000.0) for _ in range(3)]
    for number, wait in enumerate(waits, start=1):
        assert wait is not None
        assert number * 1000 - 500 < wait <= number * 1000
    assert await pauses.reserve("example.org", 1000.0, 3000.0) is None, "it would wait 4000 s"
    assert await pauses.reserve("example.net", 1000.0, 5000.0) == 0.0


async def test_old_robots_files_are_swept_and_pauses_that_are_not_over_stay(
    site: Any, scraper: Scraping, article: Any, database: Database
) -> None:
    fetcher = await scraper(database)
    await fetcher.fetch(site.put("/a", article()), "oolong")
    store = FetchedPages(database)
    await store.reserve("example.org", 1000.0, 1.0)
    await store.reserve("example.net", -1000.0, 1.0)  # was over long ago
    assert (await count(database, robots_files), await count(database, host_pauses)) == (1, 2)
    now = Later().now()
    await store.sweep(now - timedelta(days=1))
    assert (await count(database, robots_files), await count(database, host_pauses)) == (1, 1)
    await store.sweep(now + timedelta(days=1))
    assert await count(database, robots_files) == 0


async def test_a_stored_page_is_deleted_with_the_battle_that_brought_it(
    site: Any, scraper: Scraping, article: Any, database: Database
) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    await evaluate(database, "sencha", "All about sencha.")
    url = site.put("/oolong", article("Notes on oolong"))
    await (await scraper(database)).fetch(url, "oolong")
    await (await scraper(database)).fetch(site.url("/missing"), "sencha")
    assert "fetched_pages.battle_id" in await places_of(database, "oolong")
    await Deletions(database).delete("oolong", LATER)
    assert await places_of(database, "oolong") == {"deletions.battle_id"}
    assert await count(database, fetched_pages) == 1
    again = await (await scraper(database)).fetch(url, "sencha")
    assert (again.quality, site.asked["/oolong"]) == (Quality.OK, 2)
