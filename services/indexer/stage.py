"""The handler of the indexer, and its stage."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from nuggetstream.domain.event import BattleIndexed, BattleScraped, Event
from nuggetstream.domain.evidence import ChunkRef, Page, PageState
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from services.indexer.chunking import SPLITTER, cut
from services.runtime.embedding import Embedder
from services.runtime.errors import Unavailable
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.store.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
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
        usable = [page for page in event.pages if page.state is not PageState.REJECTED]
        texts = [(page, key) for page in usable if (key := page.content_hash) is not None]
        origins = {key: Origin(page.language, page.fetched_at) for page, key in texts}
        cut_pages, page_texts = await self._cut(origins)
        # Vectors first, so that every chunk in the table can be searched.
        if self.embedder is not None and cut_pages:
            await self.embedder.embed([chunk.text for chunk in cut_pages])
        await self.chunks.add(cut_pages, page_texts)
        await self.sources.add(event.battle.id, [_source(event, page, key) for page, key in texts])
        model = None if self.embedder is None else self.embedder.model
        key = derived_id(event.key, StageName.INDEXER, SPLITTER, self.size, self.overlap, model)
        refs = tuple(ChunkRef(chunk.id, chunk.content_hash) for chunk in cut_pages)
        return [BattleIndexed(key, event.battle, event.pages, refs)]

    async def _cut(self, origins: Mapping[str, Origin]) -> tuple[list[StoredChunk], dict[str, str]]:
        """The chunks of pages, given by content hash, and the texts of the pages."""
        texts = await self.blobs.get_texts(list(origins))
        if missing := origins.keys() - texts.keys():
            detail = f"{len(missing)} page texts are not in the store yet"
            raise Unavailable(Reason.STORE_UNAVAILABLE, detail)

        def cut_all() -> list[StoredChunk]:
            return [
                chunk
                for key, origin in origins.items()
                for chunk in cut(key, texts[key], origin, self.size, self.overlap)
            ]

        return await asyncio.to_thread(cut_all), texts


def _source(event: BattleScraped, page: Page, content_hash: str) -> StoredSource:
    cited_by = event.battle.sides_citing(page.url)
    return StoredSource(page.url, page.title, content_hash, page.fetched_at, cited_by)


def build(indexer: Indexer, *, concurrency: int = 4, deadline: float = 300.0) -> Stage[BattleScraped, Event]:
    """The stage of the indexer."""
    return event_stage(StageName.INDEXER, indexer, indexer.blobs, concurrency=concurrency, deadline=deadline)
