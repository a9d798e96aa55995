"""A chunk that an answer cites a passage of is evidence, wherever the ranking has it."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import CitedPassage, Side, Source
from nuggetstream.domain.event import BattleIndexed, BattleRetrieved
from nuggetstream.domain.evidence import ChunkRef
from nuggetstream.domain.identity import content_hash
from services.retriever.memory import MemoryIndex
from services.retriever.search import Searcher
from services.retriever.stage import Retriever
from services.store.content.chunks import Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database
from tests import samples

TEXTS = [f"Tea number {number} is a tea of teas, and tea again." for number in range(6)]
CITED = "The boat of the merchant sank near the harbour."


@pytest.fixture
async def chunks(record: Database) -> list[StoredChunk]:
    """Chunks of one page, of which the last is the furthest from the query."""
    page = content_hash("page")
    chunks = [StoredChunk(f"c{place}", page, place, text) for place, text in enumerate([*TEXTS, CITED])]
    await Chunks(record).add(chunks)
    await Sources(record).add("b1", [StoredSource("u1", "Tea", page, samples.NOON, (Side.A,))])
    return chunks


async def retrieved(
    record: Database, chunks: list[StoredChunk], source: Source, limit: int
) -> BattleRetrieved:
    fought = samples.battle(urls_a=["u1"])
    fought = replace(fought, a=replace(fought.a, sources=(source,)))
    refs = tuple(ChunkRef(chunk.id, chunk.content_hash) for chunk in chunks)
    indexed = BattleIndexed("k", fought, (), refs)
    [event] = await Retriever(Searcher.of(record, None, MemoryIndex()), limit=limit)(indexed)
    assert isinstance(event, BattleRetrieved)
    return event


async def test_a_cited_passage_takes_the_place_of_the_chunk_that_ranks_lowest(
    record: Database, chunks: list[StoredChunk]
) -> None:
    plain = await retrieved(record, chunks, Source("u1"), 4)
    cited = await retrieved(record, chunks, Source("u1", snippet="boat of the merchant sank near"), 4)
    assert "c6" not in [item.chunk_id for item in plain.evidence]
    assert [item.chunk_id for item in cited.evidence] == [*(e.chunk_id for e in plain.evidence[:3]), "c6"]
    last = cited.evidence[-1]
    assert (last.text, last.url, last.cited_by) == (CITED, "u1", (Side.A,))
    assert last.score == cited.evidence[-2].score


async def test_every_passage_of_a_source_gets_its_chunk(record: Database, chunks: list[StoredChunk]) -> None:
    passages = (CitedPassage(None, 3, 9), CitedPassage(TEXTS[5]), CitedPassage(CITED))
    event = await retrieved(record, chunks, Source("u1").citing(passages), 4)
    assert {"c5", "c6"} <= {item.chunk_id for item in event.evidence}
    assert len(event.evidence) == 4


@pytest.mark.parametrize("snippet", ["a passage that the page does not have at all", TEXTS[0]])
async def test_the_evidence_stays_where_the_passage_is_there_already_or_nowhere(
    record: Database, chunks: list[StoredChunk], snippet: str
) -> None:
    plain = await retrieved(record, chunks, Source("u1"), 6)
    assert (await retrieved(record, chunks, Source("u1", snippet=snippet), 6)).evidence == plain.evidence


async def test_the_snippet_of_a_page_that_was_not_read_is_no_evidence(
    record: Database, chunks: list[StoredChunk]
) -> None:
    event = await retrieved(record, chunks, Source("https://gone.example/", snippet=CITED), 4)
    assert "c6" not in [item.chunk_id for item in event.evidence]
    assert all(item.url == "u1" for item in event.evidence)
