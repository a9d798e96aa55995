"""What every index does, whatever is behind the port."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.identity import content_hash
from services.retriever.pgvector import PgVectorIndex
from services.retriever.port import ALL, Filter
from services.retriever.search import Scope, Searcher
from services.store.battles.battles import Battles
from services.store.battles.deletion import DeletedBattle, Deletions
from services.store.content.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
from services.wire.codec import encode
from tests import samples
from tests.fakes import WordVectors
from tests.integration.retriever.conftest import Indexed
from tests.samples import NOON

MODEL = WordVectors()
TEXTS = ("Tea is made of leaves.", "Coffee is made of beans.", "Green tea has caffeine.", "Water is wet.")
BOTH = (Side.A, Side.B)


def chunk(
    text: str, language: str | None = None, age_days: int | None = None, arena: str = "default"
) -> StoredChunk:
    fetched_at = None if age_days is None else NOON - timedelta(days=age_days)
    key = content_hash(text)
    origin = Origin(language, fetched_at, arena=arena)
    return StoredChunk(f"{'c' if arena == 'default' else arena}{key}"[:60], key, 0, text, origin)


async def stored(indexed: Indexed, chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """Chunks in the table, as the indexer stores them."""
    await Chunks(indexed.database).add(chunks)
    return list(chunks)


async def filled(indexed: Indexed, chunks: Sequence[StoredChunk], *, words_alone: bool = False):
    index = indexed.make()
    texts = [chunk.text for chunk in await stored(indexed, chunks)]
    await index.add(chunks, None if words_alone else MODEL.encode(texts))
    if isinstance(index, PgVectorIndex):
        await index.settled()
    return index


def texts_of(chunks: Sequence[StoredChunk], ids: Sequence[str]) -> list[str]:
    by_id = {chunk.id: chunk.text for chunk in chunks}
    return [by_id[key] for key in ids]


async def test_the_nearest_come_first(indexed: Indexed) -> None:
    chunks = [chunk(text) for text in TEXTS]
    index = await filled(indexed, chunks)
    query = MODEL.encode(["green tea caffeine"])[0]
    assert texts_of(chunks, await index.nearest(query, 2)) == [TEXTS[2], TEXTS[0]]
    assert len(await index.nearest(query, 99)) == 4
    assert await index.nearest(query, 0) == []


async def test_words_find_what_shares_a_term_and_nothing_else(indexed: Indexed) -> None:
    chunks = [chunk(text) for text in (*TEXTS, "...", "It's 2.5 o'clock \\ 'quoted'", "绿茶含有咖啡因")]
    index = await filled(indexed, chunks)
    assert texts_of(chunks, await index.matching("green tea", 10)) == [TEXTS[2], TEXTS[0]]
    assert texts_of(chunks, await index.matching("TEA", 1)) in ([TEXTS[0]], [TEXTS[2]])
    assert texts_of(chunks, await index.matching("clock's 'quoted' 2.5", 9)) == [chunks[5].text]
    assert texts_of(chunks, await index.matching("咖啡", 9)) == [chunks[6].text]
    for query in ("", "...", "zebra", "' \\ | & !"):
        assert await index.matching(query, 10) == []


async def test_a_rare_word_counts_more_than_a_common_one(indexed: Indexed) -> None:
    chunks = [chunk(f"Tea of kind {i}.") for i in range(30)] + [chunk("Matcha is green.")]
    index = await filled(indexed, chunks)
    assert texts_of(chunks, await index.matching("matcha tea", 1)) == ["Matcha is green."]


async def test_a_word_counts_more_the_more_often_it_is_there_and_the_shorter_the_chunk(
    indexed: Indexed,
) -> None:
    filler = " ".join(f"filler{word}" for word in ("one", "two", "three", "four", "five", "six"))
    texts = [
        f"Oolong {filler * 9}.",
        f"Oolong {filler}.",
        f"Oolong oolong {filler}.",
        filler,
        f"{filler} tea",
    ]
    chunks = [chunk(text) for text in texts]
    index = await filled(indexed, chunks)
    assert texts_of(chunks, await index.matching("oolong", 9)) == [texts[2], texts[1], texts[0]]


async def test_without_a_model_only_words_find(indexed: Indexed) -> None:
    chunks = [chunk(text) for text in TEXTS]
    index = await filled(indexed, chunks, words_alone=True)
    assert texts_of(chunks, await index.matching("wet", 9)) == [TEXTS[3]]


async def test_an_empty_index_finds_nothing(indexed: Indexed) -> None:
    index = indexed.make()
    assert await index.matching("tea", 5) == []
    assert await index.nearest(MODEL.encode(["tea"])[0], 5) == []
    assert await index.missing(["x"]) == ["x"]


async def test_a_chunk_that_is_there_is_not_added_again(indexed: Indexed) -> None:
    chunks = [chunk(text) for text in TEXTS]
    index = await filled(indexed, chunks)
    await index.add(chunks[:2], MODEL.encode(["other", "words"]))
    assert await index.missing(["x", chunks[0].id]) == ["x"]
    found = await index.nearest(MODEL.encode([TEXTS[0]])[0], 9)
    assert sorted(found) == sorted(c.id for c in chunks)
    assert found[0] == chunks[0].id


async def test_filters_by_language_and_age(indexed: Indexed) -> None:
    chunks = [
        chunk("Tea in English.", "en", 1),
        chunk("Tea in American.", "en-US", 10),
        chunk("Tea auf Deutsch.", "de", 1),
        chunk("Tea of nowhere."),
    ]
    index = await filled(indexed, chunks)
    recent = Filter(fetched_after=NOON - timedelta(days=5))
    for only, count in (
        (Filter(languages=frozenset({"en"})), 2),
        (Filter(languages=frozenset({"en", "de"})), 3),
        (Filter(languages=frozenset({"fr"})), 0),
        (recent, 2),
        (Filter(frozenset({"de"}), recent.fetched_after), 1),
    ):
        expected = {c.id for c in chunks if only.passes(c.origin)}
        assert len(expected) == count
        assert set(await index.matching("tea", 10, only)) == expected
        assert set(await index.nearest(MODEL.encode(["tea"])[0], 10, only)) == expected


async def test_a_removed_chunk_is_found_by_nothing(indexed: Indexed) -> None:
    chunks = [
        chunk(f"Tea number {word}.") for word in ["one", "two", "three", "four", "five", "six", "seven"]
    ]
    database = indexed.database
    index, gone = await filled(indexed, chunks), chunks[:2]
    await Sources(database).add("b1", [StoredSource(c.text, None, c.content_hash, None, BOTH) for c in gone])
    await Deletions(database).finish(DeletedBattle("b1", NOON))
    await index.remove({c.id for c in gone} | {"unknown"})
    rest = {c.id for c in chunks[2:]}
    assert set(await index.missing([c.id for c in chunks])) == {c.id for c in gone}
    assert set(await index.matching("tea one", 9)) == rest
    assert set(await index.nearest(MODEL.encode(["Tea number one."])[0], 9)) == rest
    again = await stored(indexed, [chunks[0]])
    await index.add(again, MODEL.encode([chunks[0].text]))
    assert (await index.matching("one", 9)) == [chunks[0].id]
    assert (await index.nearest(MODEL.encode([chunks[0].text])[0], 1)) == [chunks[0].id]


async def test_with_many_removed_the_rest_is_found(indexed: Indexed) -> None:
    chunks = [chunk(f"Tea {'green ' * (i % 5)}w{i}.") for i in range(60)]
    index = await filled(indexed, chunks)
    gone = {c.id for c in chunks[:55]}
    if await index.ids() is not None:
        await index.remove(gone)
        found = await index.nearest(MODEL.encode([chunks[57].text])[0], 99)
        assert found[0] == chunks[57].id
        assert set(found) == {c.id for c in chunks} - gone == await index.ids()
        assert await index.matching("w3", 9) == []
        assert await index.matching("w58", 9) == [chunks[58].id]


async def test_searches_run_while_chunks_are_added(indexed: Indexed) -> None:
    chunks = [chunk(f"Tea {i} {'leaf ' * (i % 7)}") for i in range(400)]
    vectors = MODEL.encode([c.text for c in chunks])
    index = await filled(indexed, chunks[:1])
    await stored(indexed, chunks[1:])

    async def add() -> None:
        for start in range(1, 400, 20):
            await index.add(chunks[start : start + 20], vectors[start : start + 20])

    adding = asyncio.create_task(add())
    counts = []
    while not adding.done():
        counts.append(len(await index.matching("tea", 1000)))
        assert len(set(await index.nearest(vectors[0], 1000))) >= 1
    await adding
    assert counts == sorted(counts)
    assert len(await index.matching("tea", 1000)) == 400
    assert len(await index.nearest(vectors[0], 1000)) == 400


async def index_page(
    indexed: Indexed, battle: str, url: str, page: StoredChunk, cited_by: Sequence[Side] = BOTH
) -> None:
    await stored(indexed, [page])
    source = StoredSource(url, None, page.content_hash, None, cited_by, page.origin.arena)
    await Sources(indexed.database).add(battle, [source])


@pytest.mark.parametrize("model", [None, MODEL], ids=["bm25", "hybrid"])
async def test_a_search_sees_its_scope_and_all_that_was_stored_before(
    indexed: Indexed, model: WordVectors | None
) -> None:
    searcher = Searcher.of(indexed.database, model, indexed.make())

    async def urls(query: str, scope: Scope, battle: str = "b1", only: Filter = ALL) -> set[str | None]:
        return {e.url for e in await searcher.search(query, scope, battle, 10, only=only)}

    assert await urls("tea", Scope.CORPUS) == set()
    await index_page(indexed, "b1", "both", chunk("Tea is made of leaves.", "en"))
    await index_page(indexed, "b1", "left", chunk("Green tea has caffeine.", "de"), [Side.A])
    await index_page(indexed, "b2", "other", chunk("White tea is made of buds.", "en"))
    assert await urls("tea", Scope.CORPUS) == {"both", "left", "other"}
    assert await urls("tea", Scope.BATTLE) == {"both", "left"}
    assert await urls("tea", Scope.ANSWER_A) == {"both", "left"}
    assert await urls("tea", Scope.ANSWER_B) == {"both"}
    german = Filter(languages=frozenset({"de"}))
    for scope in (Scope.CORPUS, Scope.BATTLE, Scope.ANSWER_A):
        assert await urls("tea", scope, only=german) == {"left"}
    await index_page(indexed, "b3", "new", chunk("Mate is a tea."))
    assert "new" in await urls("mate tea", Scope.CORPUS)
    await Deletions(indexed.database).finish(DeletedBattle("b2", NOON))
    assert await urls("tea", Scope.CORPUS) == {"both", "left", "new"}
    await index_page(indexed, "b2", "other", chunk("White tea is made of buds.", "en"))
    assert await urls("tea", Scope.CORPUS) == {"both", "left", "other", "new"}


async def add_battle(indexed: Indexed, name: str, arena: str) -> None:
    battle = replace(samples.battle(name), arena=arena)
    await Battles(indexed.database).accept(battle, encode(BattleSubmitted(name, battle)), NOON)


@pytest.mark.parametrize("model", [None, MODEL], ids=["bm25", "hybrid"])
async def test_a_search_of_the_corpus_finds_the_sources_of_its_arena_alone(
    indexed: Indexed, model: WordVectors | None
) -> None:
    searcher = Searcher.of(indexed.database, model, indexed.make())

    async def found(query: str, arena: str) -> dict[str, tuple[str | None, str]]:
        evidence = await searcher.search(query, Scope.CORPUS, "b1", 10, arena=arena)
        return {item.text: (item.url, item.chunk_id) for item in evidence}

    ours, theirs = chunk("Green tea has caffeine."), chunk("Black tea has caffeine.", arena="other")
    both = [chunk("White tea is made of buds.", arena=arena) for arena in ("default", "other")]
    await index_page(indexed, "b1", "ours", ours)
    await index_page(indexed, "b2", "theirs", theirs)
    await index_page(indexed, "b2", "https://other.example/both", both[1])
    assert await found("tea", "default") == {ours.text: ("ours", ours.id)}
    assert await found("tea", "other") == {
        theirs.text: ("theirs", theirs.id),
        both[1].text: ("https://other.example/both", both[1].id),
    }
    assert await found("tea", "third") == {}
    await index_page(indexed, "b1", "https://ours.example/both", both[0])
    assert await found("white tea", "default") == {
        both[0].text: ("https://ours.example/both", both[0].id),
        ours.text: ("ours", ours.id),
    }
    assert (await found("white tea", "other"))[both[1].text] == ("https://other.example/both", both[1].id)
    for scope in (Scope.BATTLE, Scope.ANSWER_A):
        evidence = await searcher.search("tea", scope, "b2", 10, arena="other")
        assert {item.chunk_id for item in evidence} == {theirs.id, both[1].id}


async def test_an_arena_loses_a_page_with_its_last_battle_though_another_arena_cites_it(
    indexed: Indexed,
) -> None:
    searcher = Searcher.of(indexed.database, MODEL, indexed.make())
    both = [chunk("White tea is made of buds.", arena=arena) for arena in ("default", "other")]
    await add_battle(indexed, "b2", "other")
    for battle, page in (("b1", both[0]), ("b2", both[1]), ("b3", both[1])):
        await index_page(indexed, battle, f"of {battle}", page)
    await add_battle(indexed, "b3", "other")

    async def ids(arena: str) -> set[str]:
        evidence = await searcher.search("white tea", Scope.CORPUS, "b", 10, arena=arena)
        return {item.chunk_id for item in evidence}

    assert (await ids("default"), await ids("other")) == ({both[0].id}, {both[1].id})
    await Deletions(indexed.database).finish(DeletedBattle("b1", NOON))
    assert (await ids("default"), await ids("other")) == (set(), {both[1].id})


async def test_sources_of_a_shared_arena_are_found_in_every_arena_each_passage_once(indexed: Indexed) -> None:
    shared = frozenset({"library", "archive"})
    searcher = Searcher.of(indexed.database, MODEL, indexed.make(), shared=shared)
    arenas = ("library", "default", "archive", "other")
    copies = {arena: chunk("White tea is made of buds.", arena=arena) for arena in arenas}
    alone = {arena: chunk(f"Tea of the {arena}.", arena=arena) for arena in arenas}
    for arena in arenas:
        for page in (copies[arena], alone[arena]):
            await index_page(indexed, f"b {arena}", f"{arena} {page.ordinal}", page)

    async def ids(arena: str, limit: int = 10) -> list[str]:
        evidence = await searcher.search("white tea", Scope.CORPUS, "b", limit, arena=arena)
        return [item.chunk_id for item in evidence]

    for arena in ("default", "other"):
        found = await ids(arena)
        assert found[0] == copies[arena].id
        assert sorted(found[1:]) == sorted(alone[name].id for name in (arena, *shared))
        assert len(await ids(arena, 4)) == 4
    assert set(await ids("library")) == {copies["library"].id, *(alone[name].id for name in shared)}


async def test_another_process_finds_the_same(indexed: Indexed) -> None:
    first, second = (Searcher.of(indexed.database, MODEL, indexed.make()) for _ in range(2))
    for number, text in enumerate(TEXTS):
        await index_page(indexed, f"b{number}", text, chunk(text))
    one, other = await asyncio.gather(
        *(each.search("green tea", Scope.CORPUS, "b0", 4) for each in (first, second))
    )
    assert one == other
    assert len(one) == 4
