"""The indexer's handler: pages in, chunks out, the same every time."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleIndexed, BattleScraped
from nuggetstream.domain.evidence import PageState
from nuggetstream.domain.failure import Reason
from nuggetstream.text.languages import detected_language
from services.indexer.batching import BatchingEmbedder
from services.indexer.stage import Indexer
from services.indexer.storing import StoringEmbedder
from services.runtime.errors import Unavailable
from services.store.content.blobs import Blobs
from services.store.content.chunk_changes import ChunkChanges
from services.store.content.chunks import Chunks, Sources
from services.store.database import Database
from tests import samples
from tests.fakes import WordVectors

TEA = "Tea is a drink. It is made of leaves. The leaves are dried."


def indexer(record: Database, model: WordVectors | None = None) -> Indexer:
    chunks = Chunks(record)
    embedder = None if model is None else StoringEmbedder(BatchingEmbedder(model), chunks)
    return Indexer(Blobs(record), chunks, Sources(record), embedder, size=2, overlap=1)


async def scraped(record: Database, **pages: str) -> BattleScraped:
    for text in pages.values():
        await Blobs(record).put_texts([text], "b1")
    battle = samples.battle(urls_a=list(pages), urls_b=list(pages)[:1])
    return BattleScraped("s1", battle, tuple(samples.page(url, text) for url, text in pages.items()))


async def run(indexer: Indexer, event: BattleScraped) -> BattleIndexed:
    (out,) = await indexer(event)
    assert isinstance(out, BattleIndexed)
    return out


async def test_pages_become_chunks_vectors_and_sources(record: Database) -> None:
    model = WordVectors()
    out = await run(indexer(record, model), await scraped(record, u1=TEA, u2="Coffee is a drink."))
    stored = await Chunks(record).get([ref.id for ref in out.chunks])
    assert [stored[ref.id].text for ref in out.chunks] == [
        "Tea is a drink. It is made of leaves.",
        "It is made of leaves. The leaves are dried.",
        "Coffee is a drink.",
    ]
    hashes = [chunk.text_hash for chunk in stored.values()]
    assert len(await Chunks(record).get_vectors("words", hashes)) == 3
    cited = {source.url: source.cited_by for source in await Sources(record).of_battle("b1")}
    assert cited == {"u1": (Side.A, Side.B), "u2": (Side.A,)}


async def test_the_same_event_twice_gives_the_same_and_embeds_once(record: Database) -> None:
    model, event = WordVectors(), await scraped(record, u1=TEA)
    first = await run(indexer(record, model), event)
    assert await run(indexer(record, model), event) == first
    assert len(model.calls) == 1
    _, ids = await ChunkChanges(record).ids(0, 100)
    chunks = [*(await Chunks(record).get(ids)).values()]
    assert len(chunks) == len(first.chunks)


async def test_a_page_that_battles_of_two_arenas_cite_has_chunks_in_both_and_is_embedded_once(
    record: Database,
) -> None:
    model, event = WordVectors(), await scraped(record, u1=TEA)
    battle = replace(event.battle, id="b2", arena="other")
    ids: set[str] = set()
    for event_of_arena in (event, replace(event, key="k2", battle=battle)):
        out = await run(indexer(record, model), event_of_arena)
        stored = (await Chunks(record).get([ref.id for ref in out.chunks])).values()
        arena = event_of_arena.battle.arena
        assert {chunk.origin.arena for chunk in stored} == {arena}
        (source,) = await Sources(record).of_battle(event_of_arena.battle.id)
        assert source.arena == arena
        ids |= {chunk.id for chunk in stored}
    assert len(ids) == 2 * len(out.chunks)
    assert len(model.calls) == 1


async def test_another_way_to_cut_is_another_event(record: Database) -> None:
    event = await scraped(record, u1=TEA)
    other = Indexer(Blobs(record), Chunks(record), Sources(record), None, size=3, overlap=0)
    dense = await run(indexer(record, WordVectors()), event)
    keys = {dense.key, (await run(other, event)).key, (await run(indexer(record), event)).key}
    assert len(keys) == 3


async def test_without_a_model_chunks_are_kept_without_vectors(record: Database) -> None:
    out = await run(indexer(record), await scraped(record, u1=TEA))
    assert len(await Chunks(record).get([ref.id for ref in out.chunks])) == 2


async def test_the_language_of_a_page_that_declares_none_is_detected_and_says_so(record: Database) -> None:
    texts = {
        "german": "Tee ist ein Getränk aus Blättern. Er wird in vielen Ländern getrunken.",
        "declared": "Der Kaffee ist heiß und wird aus gerösteten Bohnen gemacht.",
        "short": "Tee.",
    }
    event = await scraped(record, **texts)
    undeclared = [p if p.url == "declared" else replace(p, language=None) for p in event.pages]
    out = await run(indexer(record), replace(event, pages=tuple(undeclared)))
    pages = {page.url: (page.language, page.language_confidence) for page in out.pages}
    detected = detected_language(texts["german"])
    assert detected is not None
    assert detected.tag == "de"
    assert pages == {"german": ("de", detected.confidence), "declared": ("en", None), "short": (None, None)}
    stored = await Chunks(record).get([ref.id for ref in out.chunks])
    origins = {(c.origin.language, c.origin.language_confidence) for c in stored.values()}
    assert origins == set(pages.values())


async def test_one_content_under_two_urls_is_cut_once_and_cited_twice(record: Database) -> None:
    out = await run(indexer(record), await scraped(record, u1=TEA, u2=TEA))
    assert len(out.chunks) == 2
    assert len(await Sources(record).of_battle("b1")) == 2


async def test_a_page_whose_text_has_not_arrived_is_tried_again(record: Database) -> None:
    event = BattleScraped("s1", samples.battle(urls_a=["u"]), (samples.page("u", "not stored"),))
    with pytest.raises(Unavailable, match="1 page texts are not in the store yet") as raised:
        await indexer(record)(event)
    assert raised.value.reason is Reason.STORE_UNAVAILABLE


async def test_rejected_pages_are_passed_over(record: Database) -> None:
    wall = samples.page("u", "Please accept cookies.", PageState.REJECTED)
    out = await run(indexer(record), BattleScraped("s1", samples.battle(urls_a=["u"]), (wall,)))
    assert (out.chunks, out.pages) == ((), (wall,))
    assert await Sources(record).of_battle("b1") == []


async def test_a_chunk_that_can_be_seen_has_its_vector(record: Database) -> None:
    class Down(WordVectors):
        async def embed(self, texts):
            raise Unavailable(Reason.DEADLINE, "the model is away")

    with pytest.raises(Unavailable):
        await indexer(record, Down())(await scraped(record, u1=TEA))
    assert await ChunkChanges(record).ids(0, 100) == (0, [])
