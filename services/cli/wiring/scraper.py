"""The wiring of the scraper: pages from the web, or from an archive that is replayed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import click

from services.cli.wiring.parts import Parts
from services.runtime.service import Service
from services.scraper.archive_reader import ArchiveReader, UnusableArchive
from services.scraper.fetcher import PageFetcher
from services.scraper.replay import Replayer
from services.scraper.stage import Scraper, build
from services.store.content.fetched_pages import FetchedPages


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The scraper: fetches sources.
    Raises:
        click.ClickException: The folder that is to be replayed contains no archive.
    """
    settings = parts.fetch.scraper()
    if parts.replayed is not None:
        try:
            archive = await asyncio.to_thread(ArchiveReader, parts.replayed)
        except UnusableArchive as error:
            raise click.ClickException(str(error)) from error
        async with Replayer(archive, settings) as replayer:
            yield Service(name="scraper", stages=[build(Scraper(replayer, parts.blobs))])
        return
    pages = FetchedPages(parts.database)
    sweep = partial(pages.sweep_regularly, timedelta(seconds=settings.robots_cache_seconds))
    async with PageFetcher(settings, store=pages) as fetcher:
        stage = build(Scraper(fetcher, parts.blobs))
        yield Service(name="scraper", stages=[stage], background=[sweep])
