"""The handler of the indexer, and its stage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.event import BattleIndexed, BattleScraped, Event
from nuggetstream.domain.evidence import ChunkRef, Page, PageState
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import Stage as StageName
from nuggetstream.text.languages import detected_language
from services.indexer.chunking import SPLITTER, cut
from services.runtime.embedding import Embedder
from services.runtime.errors import Unavailable
from services.runtime.stage import Stage
from services.store.content.blobs import Blobs
from services.store.content.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
from services.wire.stages import event_stage


@dataclass(frozen=True, slots=True)
class Indexer:
    """Cuts the usable pages of a battle, embeds new chunks, and stores which side cites which page.

    Attributes:
        blobs: Page store.
        chunks: Tables of chunks and vectors.
        sources: Table of sources.
        embedder: Embedding model; None in a light installation, where chunks have no vectors and are ranked
            by BM25 alone.
        size: Sentences per chunk.
        overlap: Sentences shared with the chunk before.
    """

    blobs: Blobs
    chunks: Chunks
    sources: Sources
    embedder: Embedder | None
    size: int = 10
    overlap: int = 2

    async def __call__(self, event: BattleScraped) -> list[Event]:
        """Index the pages of one battle."""
        texts = await self._texts([key for page in event.pages if (key := _key(page)) is not None])
        pages, cut_pages = await asyncio.to_thread(self._cut, event, texts)
        # Vectors first, so that every chunk in the table can be searched.
        if self.embedder is not None and cut_pages:
            await self.embedder.embed([chunk.text for chunk in cut_pages])
        await self.chunks.add(cut_pages, texts)
        sources = [_source(event, page, key) for page in pages if (key := _key(page)) is not None]
        await self.sources.add(event.battle.id, sources)
        model = None if self.embedder is None else self.embedder.model
        key = derived_id(event.key, StageName.INDEXER, SPLITTER, self.size, self.overlap, model)
        refs = tuple(ChunkRef(chunk.id, chunk.content_hash) for chunk in cut_pages)
        return [BattleIndexed(key, event.battle, pages, refs)]

    async def _texts(self, keys: Sequence[str]) -> Mapping[str, str]:
        texts = await self.blobs.get_texts(list(dict.fromkeys(keys)))
        if missing := set(keys) - texts.keys():
            detail = f"{len(missing)} page texts are not in the store yet"
            raise Unavailable(Reason.STORE_UNAVAILABLE, detail)
        return texts

    def _cut(
        self, event: BattleScraped, texts: Mapping[str, str]
    ) -> tuple[tuple[Page, ...], list[StoredChunk]]:
        """The pages with their languages, and their chunks; those of a text that several pages have, once."""
        pages = _with_languages(event.pages, texts)
        arena = event.battle.arena
        origins = {
            key: Origin(page.language, page.fetched_at, page.language_confidence, arena)
            for page in pages
            if (key := _key(page)) is not None
        }
        return pages, [
            chunk
            for key, origin in origins.items()
            for chunk in cut(key, texts[key], origin, self.size, self.overlap)
        ]


def _key(page: Page) -> str | None:
    """The hash of the text of a usable page; None for others."""
    return None if page.state is PageState.REJECTED else page.content_hash


def _with_languages(pages: Sequence[Page], texts: Mapping[str, str]) -> tuple[Page, ...]:
    """The pages, with the language that is detected in their text where they declare none."""
    tagged = []
    for page in pages:
        key = _key(page)
        detected = None if key is None or page.language is not None else detected_language(texts[key])
        tagged.append(
            page
            if detected is None
            else replace(page, language=detected.tag, language_confidence=detected.confidence)
        )
    return tuple(tagged)


def _source(event: BattleScraped, page: Page, content_hash: str) -> StoredSource:
    return StoredSource(
        url=page.url,
        title=page.title,
        content_hash=content_hash,
        fetched_at=page.fetched_at,
        cited_by=event.battle.sides_citing(page.url),
        arena=event.battle.arena,
    )


def build(indexer: Indexer, *, concurrency: int = 4) -> Stage[BattleScraped, Event]:
    """The stage of the indexer."""
    return event_stage(StageName.INDEXER, indexer, indexer.blobs, concurrency=concurrency)
