"""Replayer: answers every URL from an archive, and sends no request.

    canonical URL -> latest visit in the archive -> its response -> kind -> extraction process -> quality

The current rules read the archived bytes. Where the visit had no response, such as after a timeout, its
outcome is the answer. Nothing depends on when a replay runs: what is not in the archive is dated with
its last record.
"""

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

from services.scraper.archive import ArchivedVisit
from services.scraper.archive_reader import ArchiveReader, UnusableArchive
from services.scraper.canonical import InvalidUrl, canonicalize
from services.scraper.clock import StoppedClock
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.outcome import PageOutcome, Quality, Unfetchable
from services.scraper.page_reader import read_page
from services.scraper.redirects import RedirectChain
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings
from services.scraper.visit import Visit, invalid

_ABSENT = Unfetchable(Quality.UNREACHABLE, "not in the archive that is replayed")


class Replayer:
    """Answers URLs from an archive. Use it as an async context manager.

    Args:
        archive: The archive.
        settings: Limits of the extraction.
    """

    def __init__(self, archive: ArchiveReader, settings: ScraperSettings) -> None:
        self._settings = settings
        self._pool = ExtractionPool(settings)
        self._archive = archive
        self._clock = StoppedClock(self._archive.ended_at)

    async def __aenter__(self) -> Self:
        """Start the first extraction process."""
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    async def fetch(self, url: str, battle_id: str | None = None) -> PageOutcome:  # noqa: ARG002 - as for a fetcher
        """The archived outcome of a URL; one that was never visited, or cannot be read, is UNREACHABLE."""
        try:
            requested = canonicalize(url)
        except InvalidUrl as error:
            return invalid(url, str(error), self._clock)
        visit = Visit.begin(requested, self._settings.total_seconds, self._clock)
        try:
            visited, response = await asyncio.to_thread(_of_archive, self._archive, str(requested))
        except UnusableArchive as error:
            return replace(visit.failed(Unfetchable(Quality.UNREACHABLE, str(error))), url=url)
        if visited is not None and not visited.read:
            return replace(visited.outcome, url=url)
        if visited is None or response is None:
            return replace(visit.failed(_ABSENT), url=url)
        visit.chain = RedirectChain(response.url)
        page = await read_page(response, requested, self._pool, self._settings.min_text_chars)
        outcome = visit.read(response, page)
        was = visited.outcome
        return replace(
            outcome, url=url, fetched_at=was.fetched_at, elapsed_s=was.elapsed_s, redirects=was.redirects
        )


def _of_archive(archive: ArchiveReader, url: str) -> tuple[ArchivedVisit | None, RawResponse | None]:
    """The latest visit, and the response that it read."""
    visit = archive.visit(url)
    return visit, archive.response_for(visit) if visit is not None and visit.read else None
