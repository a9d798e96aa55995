"""Hashes of content and ids derived from parts."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.identity import content_hash, derived_id


@given(st.text(), st.text())
def test_different_texts_have_different_hashes(one: str, other: str) -> None:
    assert (content_hash(one) == content_hash(other)) == (one == other)


def test_half_of_a_surrogate_pair_has_a_hash_too() -> None:
    assert content_hash("\ud800") != content_hash("?")


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("1",), (1,)), ((None,), ("",)), (([],), ({},)), ((True,), (1,))],
)
def test_ids_tell_parts_apart(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert derived_id(*one) != derived_id(*other)


def test_an_id_is_the_hash_of_this_text_today_and_tomorrow() -> None:
    """Ids are stored: another way of writing the parts down would give every battle a second one."""
    text = '["é",{"a":null,"b":[1,true]}]'
    assert derived_id("é", {"b": [1, True], "a": None}) == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_the_order_of_a_mapping_is_no_part_of_an_id() -> None:
    assert derived_id({"x": 1, "y": 2}) == derived_id({"y": 2, "x": 1})
    assert len(derived_id()) == 32


def test_a_part_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError):
        derived_id(object())
