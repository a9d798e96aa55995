"""Search over a real record: scopes, citations, and what was just indexed."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleIndexed, BattleRetrieved
from nuggetstream.domain.evidence import ChunkRef, Evidence
from nuggetstream.domain.identity import content_hash
from services.retriever.memory import MemoryIndex
from services.retriever.search import Scope, Searcher
from services.retriever.stage import Retriever
from services.store.battles.deletion import DeletedBattle, Deletions
from services.store.content.chunks import Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database
from tests import samples
from tests.fakes import WordVectors

BOTH = (Side.A, Side.B)


async def index(
    record: Database, battle: str, url: str, text: str, cited_by: Sequence[Side], model: WordVectors | None
) -> None:
    chunk = StoredChunk(f"chunk of {text}"[:64], content_hash(text), 0, text)
    if model is not None:
        await Chunks(record).add_vectors(model.model, {chunk.text_hash: model.encode([text])[0]})
    await Chunks(record).add([chunk])
    source = StoredSource(url, f"title of {url}", chunk.content_hash, samples.NOON, tuple(cited_by))
    await Sources(record).add(battle, [source])


@pytest.fixture(params=[None, WordVectors()], ids=["bm25", "hybrid"])
def model(request: pytest.FixtureRequest) -> WordVectors | None:
    return request.param


@pytest.fixture
async def searcher(record: Database, model: WordVectors | None) -> Searcher:
    await index(record, "b1", "u-both", "Tea is made of leaves.", BOTH, model)
    await index(record, "b1", "u-left", "Green tea has caffeine.", (Side.A,), model)
    await index(record, "b1", "u-right", "Black tea is oxidised.", (Side.B,), model)
    await index(record, "b2", "u-other", "White tea is made of buds.", BOTH, model)
    return Searcher.of(record, model, MemoryIndex())


async def found(searcher: Searcher, scope: Scope, battle_id: str = "b1", query: str = "tea") -> set[str]:
    return {item.url for item in await searcher.search(query, scope, battle_id, 10)}


async def one(searcher: Searcher, query: str, scope: Scope = Scope.BATTLE) -> Evidence:
    return (await searcher.search(query, scope, "b1", 1))[0]


async def test_each_scope_sees_its_own_pages(searcher: Searcher) -> None:
    assert await found(searcher, Scope.CORPUS) == {"u-both", "u-left", "u-right", "u-other"}
    assert await found(searcher, Scope.BATTLE) == {"u-both", "u-left", "u-right"}
    assert await found(searcher, Scope.ANSWER_A) == {"u-both", "u-left"}
    assert await found(searcher, Scope.ANSWER_B) == {"u-both", "u-right"}
    assert await found(searcher, Scope.BATTLE, "never") == set()


async def test_the_best_chunk_comes_first_with_where_it_is_from(searcher: Searcher) -> None:
    best = await one(searcher, "green caffeine")
    assert (best.text, best.url, best.title) == ("Green tea has caffeine.", "u-left", "title of u-left")
    assert (best.cited_by, best.fetched_at) == ((Side.A,), samples.NOON)
    assert best.content_hash == content_hash(best.text)


async def test_the_corpus_marks_what_the_battle_cites_and_names_the_rest(searcher: Searcher) -> None:
    cited = {e.url: e.cited_by for e in await searcher.search("tea", Scope.CORPUS, "b1", 10)}
    assert cited == {"u-both": BOTH, "u-left": (Side.A,), "u-right": (Side.B,), "u-other": ()}


async def test_a_battle_whose_page_changed_until_it_was_scraped_again_has_the_page_as_it_is_now(
    searcher: Searcher, record: Database, model: WordVectors | None
) -> None:
    text = "Green tea has less caffeine than coffee."
    await index(record, "b1", "u-left", text, (Side.A,), model)
    found = {item.text for item in await searcher.search("tea", Scope.ANSWER_A, "b1", 10)}
    assert found == {text, "Tea is made of leaves."}


async def test_what_was_just_indexed_is_found(
    searcher: Searcher, record: Database, model: WordVectors | None
) -> None:
    await found(searcher, Scope.CORPUS)
    await index(record, "b3", "u-new", "Mate tea comes from South America.", BOTH, model)
    assert (await one(searcher, "mate", Scope.CORPUS)).url == "u-new"


@pytest.mark.parametrize("scope", [Scope.ANSWER_A, Scope.BATTLE, Scope.CORPUS])
async def test_one_page_under_two_urls_is_cited_by_both_sides(
    record: Database, model: WordVectors | None, scope: Scope
) -> None:
    await index(record, "b1", "a-mirror", "Tea is a drink.", (Side.B,), model)
    await index(record, "b1", "b-original", "Tea is a drink.", (Side.A,), model)
    searcher = Searcher.of(record, model, MemoryIndex())
    assert (await one(searcher, "tea", scope)).cited_by == BOTH


async def test_an_answers_page_goes_by_the_url_that_answer_cites(
    record: Database, model: WordVectors | None
) -> None:
    await index(record, "b1", "a-mirror", "Tea is a drink.", (Side.B,), model)
    await index(record, "b1", "b-original", "Tea is a drink.", (Side.A,), model)
    searcher = Searcher.of(record, model, MemoryIndex())
    assert (await one(searcher, "tea", Scope.ANSWER_A)).url == "b-original"
    assert (await one(searcher, "tea", Scope.ANSWER_B)).url == "a-mirror"


async def test_a_query_without_words_still_shows_the_battles_own_pages(searcher: Searcher) -> None:
    assert len(await found(searcher, Scope.BATTLE, query="?!")) == 3


async def test_a_query_without_words_finds_nothing_by_words_alone(record: Database) -> None:
    await index(record, "b1", "u", "Tea.", BOTH, None)
    searcher = Searcher.of(record, None, MemoryIndex())
    assert await searcher.search("?!", Scope.CORPUS, "b1", 10) == []
    assert searcher.ranking == "bm25"


@pytest.mark.parametrize("scope", [Scope.BATTLE, Scope.CORPUS])
async def test_chunks_indexed_without_a_model_are_embedded_when_searched(
    record: Database, scope: Scope
) -> None:
    await index(record, "b1", "u", "Tea.", BOTH, None)
    model, storing = WordVectors(), WordVectors()
    searcher = Searcher.of(record, model, MemoryIndex(), storing=storing)
    (found,) = await searcher.search("tea", scope, "b1", 10)
    assert found.text == "Tea."
    assert (model.calls, storing.calls) == ([["tea"]], [["Tea."]])


async def test_a_page_that_was_also_cut_in_another_way_is_evidence_once(searcher: Searcher) -> None:
    every = await searcher.search("tea", Scope.BATTLE, "b1", 10)
    own = {every[0].chunk_id}
    again = await searcher.find(["tea"], Scope.BATTLE, "b1", 10, own, arena="default")
    assert [item.chunk_id for item in again.evidence] == [*own]


@pytest.mark.parametrize("scope", [Scope.BATTLE, Scope.CORPUS])
async def test_evidence_says_of_which_text_the_model_read_only_a_part(record: Database, scope: Scope) -> None:
    model, text = WordVectors(), "Tea is a drink of leaves."
    await index(record, "b1", "u-short", "Green tea.", BOTH, model)
    vectors = {content_hash(text): model.encode([text])[0]}
    await Chunks(record).add_vectors(model.model, vectors, {content_hash(text): 0.75})
    await index(record, "b1", "u-long", text, BOTH, None)
    searcher = Searcher.of(record, model, MemoryIndex())
    shares = {item.url: item.read_share for item in await searcher.search("tea", scope, "b1", 10)}
    assert shares == {"u-short": None, "u-long": 0.75}
    other = Searcher.of(record, WordVectors("other"), MemoryIndex())
    assert {item.read_share for item in await other.search("tea", scope, "b1", 10)} == {None}


async def run(retriever: Retriever) -> BattleRetrieved:
    pages = [source.content_hash for source in await retriever.searcher.sources.of_battle("b1")]
    chunks = await retriever.searcher.vectors.chunks.of_pages(pages)
    refs = tuple(ChunkRef(chunk.id, chunk.content_hash) for chunk in chunks)
    (out,) = await retriever(BattleIndexed("i1", samples.battle(), (), refs))
    assert isinstance(out, BattleRetrieved)
    return out


async def test_the_same_event_twice_gives_the_same_evidence(searcher: Searcher) -> None:
    first = await run(Retriever(searcher))
    assert await run(Retriever(searcher)) == first
    assert len(first.evidence) == 3
    assert first.ranking == searcher.ranking


async def test_other_settings_are_another_event(searcher: Searcher) -> None:
    others = [Retriever(searcher), Retriever(searcher, Scope.CORPUS), Retriever(searcher, limit=1)]
    others.append(Retriever(replace(searcher, shared=frozenset({"library"})), Scope.CORPUS))
    assert len({(await run(retriever)).key for retriever in others}) == 4


async def test_a_battle_without_pages_has_no_evidence_and_that_is_no_failure(record: Database) -> None:
    assert (await run(Retriever(Searcher.of(record, None, MemoryIndex())))).evidence == ()


async def test_chunks_of_a_deleted_battle_leave_the_index_in_memory(
    searcher: Searcher, record: Database, model: WordVectors | None
) -> None:
    """And a chunk that is added afterwards is found, although SQLite gives it the position of the deleted."""
    assert "u-other" in await found(searcher, Scope.CORPUS)
    await Deletions(record).finish(DeletedBattle("b2", samples.NOON))
    assert await found(searcher, Scope.CORPUS) == {"u-both", "u-left", "u-right"}
    assert len(await searcher.corpus.index.ids() or ()) == 3
    await Deletions(record).finish(DeletedBattle("b1", samples.NOON))
    await index(record, "b3", "u-new", "Yellow tea is rare.", BOTH, model)
    assert await found(searcher, Scope.CORPUS) == {"u-new"}
