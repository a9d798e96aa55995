"""Redirects to addresses that are not in ASCII."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import Quality
from services.scraper.settings import ScraperSettings

Settings = Callable[..., ScraperSettings]


@pytest.mark.parametrize("name", ["Straße-München", "北京的河流", "Реки_Сибири"])
async def test_a_redirect_to_an_address_in_raw_utf8_is_followed(
    site: Any, settings: Settings, article: Any, name: str
) -> None:
    end = site.put(f"/{quote(name)}?q={quote(name)}", article())
    start = site.put("/1", status="301 Moved", Location=f"/{name}?q={name}")
    async with PageFetcher(settings()) as fetcher:
        page = await fetcher.fetch(start)
    assert (page.quality, page.final_url) == (Quality.OK, end)


async def test_a_redirect_to_an_address_in_raw_latin_1_is_read_as_such(
    site: Any, settings: Settings, article: Any
) -> None:
    end = site.put(f"/{quote('café')}", article())

    async def moved(writer: asyncio.StreamWriter) -> None:
        head = "HTTP/1.1 301 Moved\r\nLocation: /café\r\nContent-Length: 0\r\n\r\n"
        writer.write(head.encode("latin-1"))

    async with PageFetcher(settings()) as fetcher:
        assert (await fetcher.fetch(site.script("/1", moved))).final_url == end
