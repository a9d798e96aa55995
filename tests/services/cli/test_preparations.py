"""What a retriever does before it takes battles."""

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash
from services.cli.wiring import retrieval
from services.cli.wiring.retrieval import preparations
from services.retriever.memory import MemoryIndex
from services.retriever.search import Scope, Searcher
from services.retriever.stage import Retriever
from services.runtime.embedding import Vectors
from services.runtime.errors import Outage
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database
from tests.fakes import WordVectors


class AwayAtFirst(WordVectors):
    """A model that does not answer the first call."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.calls:
            self.calls.append(list(texts))
            raise Outage(Reason.LLM_UNAVAILABLE, "the indexer does not answer")
        return await super().embed(texts)


async def test_the_index_is_filled_first_where_battles_search_the_corpus(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "_RETRY_S", 0.0)
    texts = ["tea leaves", "coffee beans"]
    await Chunks(record).add([StoredChunk(text, content_hash(text), 0, text) for text in texts])
    index = MemoryIndex()
    [fill] = preparations(Retriever(Searcher.of(record, AwayAtFirst(), index), Scope.CORPUS))
    with capture_logs() as logs:
        await fill()
    assert await index.ids() == set(texts)
    assert [line["log_level"] for line in logs] == ["warning", "info"]
    assert "the indexer does not answer" in logs[0]["why"]


def test_nothing_is_prepared_where_battles_search_their_own_pages(record: Database) -> None:
    searcher = Searcher.of(record, WordVectors(), MemoryIndex())
    assert preparations(Retriever(searcher, Scope.BATTLE)) == []
