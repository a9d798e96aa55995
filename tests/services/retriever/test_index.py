"""Rankings in memory: by words, by meaning, fused, and never behind."""

import numpy as np
import pytest

from nuggetstream.text.terms import terms
from services.retriever import index
from services.retriever.index import Bm25Index, CorpusIndex, DenseIndex, rank_few
from services.runtime.embedding import Vectors
from services.store.chunks import StoredChunk
from tests.fakes import WordVectors

TEXTS = ["Tea is made of leaves.", "Coffee is made of beans.", "Green tea has caffeine.", "Water is wet."]
MODEL = WordVectors()


def chunk(text: str) -> StoredChunk:
    return StoredChunk(text, "page", 0, text)


CHUNKS = [chunk(text) for text in TEXTS]
VECTORS = MODEL.encode(TEXTS)


def words(texts: list[str]) -> Bm25Index:
    return Bm25Index([chunk(text) for text in texts], [terms(text) for text in texts])


def ids(hits: list[tuple[StoredChunk, float]]) -> list[str]:
    return [found.id for found, _ in hits]


def test_words_find_what_shares_a_term_and_nothing_else() -> None:
    found = [c.text for c in words(TEXTS).rank(terms("green tea"), 10)]
    assert found == ["Green tea has caffeine.", "Tea is made of leaves."]
    assert words(TEXTS).rank(terms("tea"), 1) != []
    assert len(words(TEXTS).rank(terms("tea"), 1)) == 1


@pytest.mark.parametrize("query", ["", "...", "zebra"])
def test_a_query_without_known_words_finds_nothing(query: str) -> None:
    assert words(TEXTS).rank(terms(query), 10) == []


@pytest.mark.parametrize("texts", [[], ["..."], ["", "!"]])
def test_chunks_without_words_are_no_trouble(texts: list[str]) -> None:
    assert words(texts).rank(terms("tea"), 10) == []


def test_a_wordless_chunk_among_others_is_never_found_by_words() -> None:
    assert [c.text for c in words(["...", "Tea."]).rank(terms("tea"), 10)] == ["Tea."]


def test_meaning_finds_the_nearest_first() -> None:
    meaning = DenseIndex()
    assert meaning.rank(VECTORS[0], 3) == []
    meaning.add(CHUNKS[:2], VECTORS[:2])
    meaning.add(CHUNKS[2:], VECTORS[2:])
    assert meaning.rank(VECTORS[2], 1) == [CHUNKS[2]]
    assert len(meaning.rank(VECTORS[2], 99)) == 4
    assert meaning.rank(VECTORS[2], 0) == []


def test_what_both_rankings_find_comes_before_what_one_finds() -> None:
    corpus = CorpusIndex()
    corpus.add(CHUNKS, VECTORS)
    found = corpus.rank("green tea", MODEL.encode(["green tea"])[0], 4)
    assert ids(found)[0] == "Green tea has caffeine."
    assert len(found) == 4
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_a_fresh_chunk_is_found_at_once() -> None:
    corpus = CorpusIndex()
    corpus.add(CHUNKS, None)
    corpus.rank("tea", None, 5)
    corpus.add([chunk("Mate is a tea of South America.")], None)
    assert "Mate is a tea of South America." in ids(corpus.rank("mate", None, 5))
    corpus.add([chunk("Rooibos grows in Africa.")], None)
    assert ids(corpus.rank("rooibos mate", None, 5)) != []
    assert ids(corpus.rank("rooibos", None, 5)) == ["Rooibos grows in Africa."]
    assert len(corpus) == 6


def test_a_chunk_that_is_there_is_not_added_again() -> None:
    corpus = CorpusIndex()
    corpus.add(CHUNKS, VECTORS)
    corpus.add([*CHUNKS, chunk("New tea.")], MODEL.encode([*TEXTS, "New tea."]))
    assert len(corpus) == 5
    found = ids(corpus.rank("tea", MODEL.encode(["New tea."])[0], 10))
    assert len(found) == len(set(found)) == 5
    assert found[0] == "New tea."


def test_everything_is_built_anew_when_much_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    class Counted(Bm25Index):
        def __init__(self, chunks, bags):
            built.append(len(chunks))
            super().__init__(chunks, bags)

    corpus = CorpusIndex()
    monkeypatch.setattr(index, "Bm25Index", Counted)
    corpus.add([chunk(f"old {i}") for i in range(300)], None)
    corpus.rank("old", None, 1)
    corpus.add([chunk(f"new {i}") for i in range(256)], None)
    corpus.rank("new", None, 1)
    corpus.rank("new", None, 1)
    corpus.add([chunk("one more")], None)
    found = ids(corpus.rank("more", None, 1))
    assert built == [300, 256, 557]
    assert found == ["one more"]


def test_among_few_chunks_all_count() -> None:
    found = rank_few("tea", None, CHUNKS, None, 10)
    assert set(ids(found)) == set(TEXTS)
    assert ids(found)[2:] == ["Coffee is made of beans.", "Water is wet."]
    assert [score for _, score in found[2:]] == [0.0, 0.0]
    assert len(rank_few("tea", None, CHUNKS, None, 3)) == 3


def test_among_few_chunks_meaning_counts_too() -> None:
    query = MODEL.encode(["wet water"])[0]
    assert ids(rank_few("zzz", query, CHUNKS, VECTORS, 1)) == ["Water is wet."]
    assert np.argmax(VECTORS @ query) == 3


@pytest.mark.parametrize("vectors", [None, VECTORS], ids=["bm25", "hybrid"])
def test_a_removed_chunk_is_not_found_and_the_others_are(vectors: Vectors | None) -> None:
    corpus, vector = CorpusIndex(), None if vectors is None else MODEL.encode(["tea"])[0]
    corpus.add(CHUNKS, vectors)
    before = ids(corpus.rank("tea", vector, 10))
    gone, *rest = before
    corpus.remove({c.id for c in CHUNKS if c.text == gone} | {"unknown"})
    assert len(corpus) == len(CHUNKS) - 1
    assert set(ids(corpus.rank("tea", vector, 10))) == set(rest)
    fresh = CorpusIndex()
    kept = [row for row, c in enumerate(CHUNKS) if c.text != gone]
    fresh.add([CHUNKS[row] for row in kept], None if vectors is None else vectors[kept])
    assert corpus.rank("tea", vector, 10) == fresh.rank("tea", vector, 10)
