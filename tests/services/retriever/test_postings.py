"""BM25 over chunks that come and go, against bm25s over all of them at once."""

from collections import Counter
from collections.abc import Sequence

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.bm25 import Postings

BAGS = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12), min_size=1, max_size=40)


def lengths(bags: Sequence[Sequence[str]]) -> np.ndarray:
    return np.asarray([len(bag) for bag in bags], dtype=np.float32)


def built(bags: Sequence[Sequence[str]]) -> Postings:
    postings = Postings()
    for row, bag in enumerate(bags):
        postings.add(row, Counter(bag))
    return postings


@given(BAGS, st.lists(st.sampled_from("abcdefgh"), min_size=1))
def test_scores_are_those_of_bm25s(bags: list[list[str]], words: list[str]) -> None:
    scores = built(bags).scores(words, lengths(bags), len(bags))
    model = bm25s.BM25(method="lucene")
    model.index(bags, show_progress=False)
    known = [word for word in words if word in model.vocab_dict]
    expected = model.get_scores(known) if known else np.zeros(len(bags))
    np.testing.assert_allclose(scores, expected, rtol=1e-4)


@given(BAGS, st.data())
def test_after_a_removal_the_scores_are_those_of_what_is_left(
    bags: list[list[str]], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(range(len(bags))), min_size=1, unique=True).map(sorted))
    rest = [bags[row] for row in kept]
    expected = built(rest).scores(["a", "b"], lengths(rest), len(rest))
    left = np.zeros(len(bags), np.float32)
    left[kept] = lengths(rest)
    postings = built(bags)
    scores = postings.scores(["a", "b"], left, len(kept))
    np.testing.assert_allclose(scores[kept], expected, rtol=1e-5)
    assert np.count_nonzero(scores) == np.count_nonzero(expected)
    rows = np.full(len(bags), -1)
    rows[kept] = np.arange(len(kept))
    moved = postings.moved(rows)
    np.testing.assert_array_equal(moved.scores(["a", "b"], lengths(rest), len(rest)), expected)
    assert set(moved._by_term) == {term for bag in rest for term in bag}


def test_rows_that_came_after_a_search_began_are_ignored() -> None:
    bags = [["tea"], ["coffee", "tea"], ["tea", "tea"]]
    before = built(bags[:2]).scores(["tea"], lengths(bags[:2]), 2)
    np.testing.assert_array_equal(built(bags).scores(["tea"], lengths(bags[:2]), 2), before)
