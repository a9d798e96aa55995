"""BM25 over a growing set of chunks, against bm25s over all of them at once."""

import random

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.memory import postings
from services.retriever.memory.postings import Postings
from services.retriever.memory.scoring import Scoring, Word

ADD = Scoring.add
BAGS = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12), min_size=1, max_size=40)


def lengths(bags: list[list[str]]) -> np.ndarray:
    return np.asarray([len(bag) for bag in bags], dtype=np.float32)


def built(bags: list[list[str]], cuts: list[int]) -> Postings:
    result, first = Postings(), 0
    for cut in [*sorted(cuts), len(bags)]:
        if cut > first:
            result, first = result.extended(bags[first:cut], first), cut
    return result


@given(BAGS, st.lists(st.integers(0, 40)), st.lists(st.sampled_from("abcdefgh"), min_size=1))
def test_scores_are_those_of_bm25s_however_the_chunks_came(
    bags: list[list[str]], cuts: list[int], words: list[str]
) -> None:
    scores = built(bags, [cut for cut in cuts if cut < len(bags)]).scores(words, lengths(bags), len(bags))
    model = bm25s.BM25(method="lucene")
    model.index(bags, show_progress=False)
    known = [word for word in words if word in model.vocab_dict]
    if not known:
        assert scores is None
    else:
        assert scores is not None
        np.testing.assert_allclose(scores, model.get_scores(known), rtol=1e-4)


@given(BAGS, st.data())
def test_after_a_removal_the_scores_are_those_of_what_is_left(
    bags: list[list[str]], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(range(len(bags))), min_size=1, unique=True).map(sorted))
    rows = np.full(len(bags), -1)
    rows[kept] = kept
    left = np.where(rows >= 0, lengths(bags), 0).astype(np.float32)
    scores = built(bags, [7, 9]).moved(rows).scores(["a", "b"], left, len(kept))
    rest = [bags[row] for row in kept]
    expected = built(rest, []).scores(["a", "b"], lengths(rest), len(rest))
    if expected is None:
        assert scores is None
    else:
        assert scores is not None
        np.testing.assert_allclose(scores[kept], expected, rtol=1e-5)
        assert np.count_nonzero(scores) == np.count_nonzero(expected)


def zipf(count: int, length: int, seed: int) -> list[list[str]]:
    """Bags of words, of which word n is about 1/n as frequent as the first."""
    drawn = np.exp(np.random.default_rng(seed).random((count, length)) * np.log(400)).astype(int)
    return [[f"w{number}" for number in row] for row in drawn.tolist()]


@pytest.mark.parametrize("frequent", [0.0, 0.03, 2.0], ids=["always", "often", "never"])
@pytest.mark.parametrize("share", [None, 0.3], ids=["all", "filtered"])
def test_the_best_are_those_with_the_highest_scores_although_frequent_words_are_skipped(
    monkeypatch: pytest.MonkeyPatch, frequent: float, share: float | None
) -> None:
    monkeypatch.setattr(postings, "_FREQUENT", frequent)
    monkeypatch.setattr(postings, "_LOOKUP", 0)
    generator = np.random.default_rng(3)
    bags = [bag[: generator.integers(3, 40)] for bag in zipf(900, 40, 1)]
    index, allowed = built(bags, [100, 500, 880]), None if share is None else generator.random(900) < share
    for words in zipf(60, 6, 2):
        scores = index.scores(words, lengths(bags), 900)
        assert scores is not None
        if allowed is not None:
            scores[~allowed] = 0.0
        expected = [row for row in np.argsort(-scores, kind="stable") if scores[row] > 0]
        for limit in (1, 7, 50, 2000):
            top = index.top(words, lengths(bags), 900, limit, allowed=allowed)
            assert top.tolist() == expected[:limit]


def test_a_frequent_word_is_read_only_for_rows_that_it_matters_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "_LOOKUP", 1)
    added: list[Word] = []

    def add(self: Scoring, word: Word) -> None:
        added.append(word)
        ADD(self, word)

    monkeypatch.setattr(Scoring, "add", add)
    bags = [["the", *(["rare"] if row % 20 == 0 else []), "of", "and"] for row in range(1000)]
    index = built(bags, [])
    assert index.top(["the", "rare", "of"], lengths(bags), 1000, 10, allowed=None).tolist() == [
        20 * i for i in range(10)
    ]
    assert [word.holders for word in added] == [50]


def test_there_are_few_segments_and_large_ones_are_merged_in_the_background_alone() -> None:
    generator, result, count = random.Random(1), Postings(), 0
    for _ in range(60):
        bags = [[generator.choice("abcdefgh")] for _ in range(generator.choice([3, 700]))]
        result, count = result.extended(bags, count), count + len(bags)
    sizes = [segment.size for segment in result.segments]
    assert sum(sizes) == count
    assert all(size > postings._SEALED for size in sizes[: result.sealed])
    assert result.sealed >= 2
    assert len(sizes) - result.sealed <= 13
    assert [segment.size for segment in result.tidied()] == [sum(sizes[: result.sealed])]
