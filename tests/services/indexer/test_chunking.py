"""Pages cut into runs of sentences: everything covered, nothing twice over, in any language."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.identity import content_hash
from services.indexer.chunking import cut, windows
from services.store.content.chunks import Origin

ENGLISH = Origin("en")
SIZES = st.integers(1, 12).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(st.integers(0, 300), SIZES)
def test_windows_cover_everything_and_share_the_overlap(count: int, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    found = windows(count, size, overlap)
    assert {place for window in found for place in window} == set(range(count))
    assert all(len(window) == size for window in found[:-1])
    for before, after in pairwise(found):
        assert len(set(before) & set(after)) == overlap


@given(st.integers(1, 300), SIZES)
def test_no_window_lies_inside_the_one_before(count: int, sizes: tuple[int, int]) -> None:
    found = windows(count, *sizes)
    assert [window.stop for window in found] == sorted({window.stop for window in found})
    assert 0 < len(found[-1]) <= sizes[0]


@pytest.mark.parametrize(("size", "overlap"), [(2, 2), (2, 3), (2, -1), (0, 0)])
def test_an_overlap_that_does_not_fit_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        windows(5, size, overlap)


def test_a_page_is_cut_the_same_way_every_time() -> None:
    text = " ".join(f"Sentence number {i} is here." for i in range(20))
    chunks = cut(content_hash(text), text, ENGLISH, 10, 2)
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2]
    assert chunks[1].text.startswith("Sentence number 8 ")
    assert chunks[2].text.endswith("Sentence number 19 is here.")
    assert chunks == cut(content_hash(text), text, ENGLISH, 10, 2)


def test_other_sizes_other_pages_and_other_arenas_give_other_ids() -> None:
    ids = [
        cut(key, "One. Two.", Origin("en", arena=arena), size, 0)[0].id
        for key in ("p", "q")
        for size in (1, 2)
        for arena in ("default", "other")
    ]
    assert len(set(ids)) == 8


def test_a_heading_stays_on_a_line_of_its_own() -> None:
    (chunk,) = cut("p", "Green tea\n\nIt is made of leaves. They are dried.", ENGLISH, 10, 2)
    assert chunk.text == "Green tea\nIt is made of leaves. They are dried."


def test_an_empty_page_has_no_chunks() -> None:
    assert cut("p", "", ENGLISH, 10, 2) == []
