"""BM25 over a growing set of chunks, against bm25s over all of them at once."""

import random

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.memory import postings
from services.retriever.memory.postings import Postings

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
