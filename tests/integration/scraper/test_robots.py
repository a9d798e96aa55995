"""robots.txt by RFC 9309, on a real server."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import Quality
from services.scraper.settings import ScraperSettings

Settings = Callable[..., ScraperSettings]
RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: Otherbot\nDisallow: /\n"


async def test_what_is_disallowed_is_not_requested(site: Any, settings: Settings, article: Any) -> None:
    site.put("/robots.txt", RULES, kind="text/plain")
    urls = [site.put(path, article()) for path in ("/private/a", "/private/open", "/public")]
    async with PageFetcher(settings()) as fetcher:
        pages = [await fetcher.fetch(url) for url in urls]
    assert [page.quality for page in pages] == [Quality.ROBOTS_DENIED, Quality.OK, Quality.OK]
    assert (site.asked["/private/a"], site.asked["/robots.txt"]) == (0, 1)


async def test_rules_for_our_name_outrank_those_for_everybody(
    site: Any, settings: Settings, article: Any
) -> None:
    site.put(
        "/robots.txt", b"User-agent: *\nAllow: /\nUser-agent: nuggetstream\nDisallow: /\n", kind="text/plain"
    )
    url = site.put("/a", article())
    async with PageFetcher(settings()) as fetcher:
        assert (await fetcher.fetch(url)).quality is Quality.ROBOTS_DENIED
    async with PageFetcher(settings(respect_robots=False)) as fetcher:
        assert (await fetcher.fetch(url)).quality is Quality.OK


@pytest.mark.parametrize(
    ("status", "quality"),
    [
        ("404 Not Found", Quality.OK),
        ("403 Forbidden", Quality.OK),
        ("429 Too Many", Quality.OK),
        ("500 Oops", Quality.ROBOTS_DENIED),
        ("503 Busy", Quality.ROBOTS_DENIED),
    ],
)
async def test_a_missing_file_allows_and_a_failing_server_denies(
    site: Any, settings: Settings, article: Any, status: str, quality: Quality
) -> None:
    site.put("/robots.txt", RULES, status, kind="text/plain")
    url = site.put("/private/a", article())
    async with PageFetcher(settings()) as fetcher:
        page = await fetcher.fetch(url)
    assert page.quality is quality
    assert site.asked["/private/a"] == (1 if quality is Quality.OK else 0)


async def test_no_answer_for_robots_means_that_the_page_is_not_requested(
    site: Any, settings: Settings
) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    site.script("/robots.txt", stall)
    async with PageFetcher(settings(read_seconds=0.1)) as fetcher:
        page = await fetcher.fetch(site.url("/a"))
    assert (page.quality, site.asked["/a"]) == (Quality.TIMEOUT, 0)
    assert page.detail.startswith("robots.txt: ")


async def test_only_the_beginning_of_an_endless_file_counts(
    site: Any, settings: Settings, article: Any
) -> None:
    body = b"User-agent: *\nDisallow: /first\n" + b"# padding\n" * 500 + b"Disallow: /last\n"
    site.put("/robots.txt", body, kind="text/plain")
    first, last = site.put("/first", article()), site.put("/last", article())
    async with PageFetcher(settings(max_robots_bytes=1000)) as fetcher:
        assert (await fetcher.fetch(first)).quality is Quality.ROBOTS_DENIED
        assert (await fetcher.fetch(last)).quality is Quality.OK


async def test_a_redirect_into_a_disallowed_place_is_not_followed(
    site: Any, settings: Settings, article: Any
) -> None:
    site.put("/robots.txt", RULES, kind="text/plain")
    site.put("/private/a", article())
    async with PageFetcher(settings()) as fetcher:
        page = await fetcher.fetch(site.put("/a", status="302 Found", Location="/private/a"))
    assert (page.quality, page.redirects, site.asked["/private/a"]) == (Quality.ROBOTS_DENIED, 1, 0)


async def test_a_crawl_delay_is_honoured_up_to_a_bound(site: Any, settings: Settings, article: Any) -> None:
    site.put("/robots.txt", b"User-agent: *\nCrawl-delay: 3600\n", kind="text/plain")
    urls = [site.put(f"/{number}", article()) for number in range(3)]
    async with PageFetcher(settings(max_crawl_delay=0.15)) as fetcher:
        pages = await asyncio.gather(*(fetcher.fetch(url) for url in urls))
    assert {page.quality for page in pages} == {Quality.OK}
    assert 0.3 <= max(page.elapsed_s for page in pages) < 60
