"""Rankings of a few chunks: by words, by meaning, fused."""

import numpy as np
import pytest

from nuggetstream.text.terms import terms
from services.retriever.index import Query, rank_by_words, rank_few
from services.store.content.chunks import StoredChunk
from tests.fakes import WordVectors

TEXTS = ["Tea is made of leaves.", "Coffee is made of beans.", "Green tea has caffeine.", "Water is wet."]
MODEL = WordVectors()


def chunk(text: str) -> StoredChunk:
    return StoredChunk(text, "page", 0, text)


CHUNKS = [chunk(text) for text in TEXTS]
VECTORS = MODEL.encode(TEXTS)


def by_words(query: str, texts: list[str]) -> list[str]:
    return [found.text for found in rank_by_words(terms(query), [chunk(text) for text in texts])]


def ids(hits: list[tuple[StoredChunk, float]]) -> list[str]:
    return [found.id for found, _ in hits]


def test_words_find_what_shares_a_term_and_nothing_else() -> None:
    assert by_words("green tea", TEXTS) == ["Green tea has caffeine.", "Tea is made of leaves."]


@pytest.mark.parametrize("query", ["", "...", "zebra"])
def test_a_query_without_known_words_finds_nothing(query: str) -> None:
    assert by_words(query, TEXTS) == []


@pytest.mark.parametrize("texts", [[], ["..."], ["", "!"]])
def test_chunks_without_words_are_no_trouble(texts: list[str]) -> None:
    assert by_words("tea", texts) == []


def test_a_wordless_chunk_among_others_is_never_found_by_words() -> None:
    assert by_words("tea", ["...", "Tea."]) == ["Tea."]


def test_among_few_chunks_all_count() -> None:
    found = rank_few([Query("tea", None)], CHUNKS, None, 10)
    assert set(ids(found)) == set(TEXTS)
    assert ids(found)[2:] == ["Coffee is made of beans.", "Water is wet."]
    assert [score for _, score in found[2:]] == [0.0, 0.0]
    assert len(rank_few([Query("tea", None)], CHUNKS, None, 3)) == 3


def test_among_few_chunks_meaning_counts_too() -> None:
    query = MODEL.encode(["wet water"])[0]
    assert ids(rank_few([Query("zzz", query)], CHUNKS, VECTORS, 1)) == ["Water is wet."]
    assert np.argmax(VECTORS @ query) == 3
