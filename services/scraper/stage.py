"""Scraper: fetches the sources of a battle.

BattleSubmitted  ->  [scraper]  ->  BattleScraped
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nuggetstream.domain.battle import Battle, CitedPassage, Side, Source
from nuggetstream.domain.event import BattleScraped, BattleSubmitted, Event
from nuggetstream.domain.evidence import Page, PageState
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.metrics import PAGES, begin_values
from services.runtime.stage import Stage
from services.scraper.cited_passages import with_cited_passages
from services.scraper.outcome import PageOutcome, Quality
from services.store.content.blobs import Blobs
from services.wire.stages import event_stage


class Fetcher(Protocol):
    """Fetches pages, from the web or from an archive."""

    async def fetch(self, url: str, battle_id: str | None = None) -> PageOutcome:
        """The outcome of a URL, for a battle. Problems of the web are in the outcome and never raised."""
        ...


@dataclass(frozen=True, slots=True)
class Scraper:
    """Gets the text of every source, or the reason why there is none.

    Attributes:
        fetcher: Fetches pages.
        blobs: Page store.
    """

    fetcher: Fetcher
    blobs: Blobs

    async def __call__(self, event: BattleSubmitted) -> list[Event]:
        """Process all distinct sources of one battle concurrently."""
        battle = event.battle
        sources: dict[str, Source] = {}
        for side in Side:
            for source in battle.answer(side).sources:
                earlier = sources.get(source.url)
                if earlier is None or (earlier.text is None and source.text is not None):
                    sources[source.url] = source
        texts = {url: source.text for url, source in sources.items() if source.text and source.text.strip()}
        keys = dict(zip(texts, await self.blobs.put_texts(list(texts.values()), battle.id), strict=True))
        cited = _cited_passages(battle)
        pages = await asyncio.gather(
            *(
                self._page(source, keys.get(source.url), battle.id, cited.get(source.url, ()))
                for source in sources.values()
            )
        )
        for page in pages:
            PAGES.labels(page.quality).inc()
        key = derived_id(event.key, StageName.SCRAPER)
        return [BattleScraped(key, battle.without_source_texts(), tuple(pages))]

    async def _page(
        self, source: Source, key: str | None, battle_id: str, cited: Sequence[CitedPassage]
    ) -> Page:
        """The page of a source.

        Args:
            source: The source.
            key: Hash of the supplied text; None when there is none to store.
            battle_id: Id of the battle.
            cited: The passages of the page that the answers cite.
        """
        if source.text is not None:
            page, text = _supplied(source, key), source.text
        else:
            outcome = await self.fetcher.fetch(source.url, battle_id)
            page, text = await self._fetched(source, outcome, battle_id), outcome.text or ""
        if page.content_hash is None or not cited:
            return page
        return await asyncio.to_thread(with_cited_passages, page, text, cited)

    async def _fetched(self, source: Source, outcome: PageOutcome, battle_id: str) -> Page:
        [key] = [None] if outcome.text is None else await self.blobs.put_texts([outcome.text], battle_id)
        return Page(
            url=source.url,
            final_url=outcome.final_url,
            title=outcome.title or source.title,
            state=PageState.REJECTED if outcome.text is None else PageState.FETCHED,
            quality=outcome.quality.value,
            detail=outcome.detail,
            content_hash=key,
            language=outcome.language,
            fetched_at=outcome.fetched_at,
        )


def _supplied(source: Source, key: str | None) -> Page:
    return Page(
        url=source.url,
        final_url=None,
        title=source.title,
        state=PageState.REJECTED if key is None else PageState.SUPPLIED,
        quality=Quality.EMPTY if key is None else Quality.OK,
        detail="the arena sent an empty text" if key is None else None,
        content_hash=key,
        language=None,
        fetched_at=None,
    )


def _cited_passages(battle: Battle) -> Mapping[str, Sequence[CitedPassage]]:
    """The passages that the answers cite, by URL."""
    passages = defaultdict[str, list[CitedPassage]](list)
    for side in Side:
        for source in battle.answer(side).sources:
            passages[source.url] += source.cited
    return passages


def build(scraper: Scraper, *, concurrency: int = 8) -> Stage[BattleSubmitted, Event]:
    """The scraper as a stage."""
    begin_values(PAGES, [quality.value for quality in Quality])
    return event_stage(StageName.SCRAPER, scraper, scraper.blobs, concurrency=concurrency)
