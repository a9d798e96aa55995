"""Pages and robots.txt files that all scrapers share, so that each is fetched once per age by all of them.

stored and young enough? -> else claim the address -> stored meanwhile? -> else fetch -> store -> release
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from services.runtime.claims import Claims
from services.scraper.canonical import WebUrl
from services.scraper.clock import Clock
from services.scraper.outcome import PageOutcome
from services.scraper.stored_outcome import as_json, outcome_of
from services.store.content.fetched_pages import FetchedPage, FetchedPages, FetchedRobots, key_of

_LEASE_S = 15.0  # a claim that is not extended ends, so that nobody waits long for a killed process

Visit = Callable[[PageOutcome | None], Awaitable[PageOutcome]]


class SharedPages:
    """What the scrapers of an installation share.

    Args:
        store: Where it is.
        clock: The clock by which ages are computed.
        max_wait: Longest wait in seconds for another process that fetches the same address; after that, it
            is fetched here too.
    """

    def __init__(self, store: FetchedPages, clock: Clock, max_wait: float) -> None:
        self._store = store
        self._clock = clock
        self._claims = Claims(store.claims, lease=_LEASE_S, wait=max_wait)

    async def page(
        self, url: WebUrl, battle_id: str | None, lifetime: Callable[[PageOutcome], float], visit: Visit
    ) -> PageOutcome:
        """The outcome of a page, fetched by any scraper.

        Args:
            url: Canonical URL.
            battle_id: Battle that the stored outcome is deleted with; None stores nothing.
            lifetime: Seconds from now for which an outcome is valid.
            visit: Fetches the page. It is given the last outcome, to ask whether that has changed.

        Raises:
            Unavailable: The database does not answer.
        """
        kept = await self._known(url)
        if kept is not None and lifetime(kept) > 0:
            return kept
        async with self._claims.held(key_of(f"page {url}"), required=False) as shared:
            if shared:
                kept = await self._known(url)
                if kept is not None and lifetime(kept) > 0:
                    return kept
            outcome = await visit(kept)
            if battle_id is not None:
                stored = FetchedPage(as_json(outcome), outcome.text, outcome.fetched_at)
                await self._store.put_page(str(url), stored, battle_id)
        return outcome

    async def robots(
        self, origin: str, lifetime: float, fetch: Callable[[], Awaitable[FetchedRobots]]
    ) -> FetchedRobots:
        """The robots.txt of an origin, fetched by any scraper.

        Args:
            origin: Scheme and authority.
            lifetime: Seconds for which a file is valid.
            fetch: Fetches the file. Where it raises an error, nothing is stored.

        Raises:
            Unavailable: The database does not answer.
        """
        oldest = self._clock.now() - timedelta(seconds=lifetime)
        stored = await self._store.robots(origin)
        if stored is not None and stored.fetched_at > oldest:
            return stored
        async with self._claims.held(key_of(f"robots {origin}"), required=False) as shared:
            if shared:
                stored = await self._store.robots(origin)
                if stored is not None and stored.fetched_at > oldest:
                    return stored
            fetched = await fetch()
            await self._store.put_robots(origin, fetched)
        return fetched

    async def _known(self, url: WebUrl) -> PageOutcome | None:
        page = await self._store.page(str(url))
        return None if page is None else outcome_of(page.outcome, str(url), page.text, page.fetched_at)
