"""Terms, identities, fused rankings, combined verdicts: the small pure parts."""

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.domain.judgment import OrderedVerdict, combine_orders
from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.text.terms import PREFIX_LETTERS, terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The regulator's 2.5 billion", ("the", "regula", "2.5", "billio")),
        ("STRASSE Straße", ("strass", "strass")),
        ("Правительство", ("правит",)),
        ("地方新闻 news", ("地方", "方新", "新闻", "news")),
        ("茶", ("茶",)),
        ("東京2024年", ("東京", "2024", "年")),
        ("a I x", ()),
        ("an ox", ("an", "ox")),
        ("1,000 and 3", ("1,000", "and", "3")),
        ("snake_case", ("snake", "case")),
        ("... --- !", ()),
        ("", ()),
    ],
)
def test_terms_in_any_language(text: str, found: tuple[str, ...]) -> None:
    assert terms(text) == found


@given(st.text(max_size=80))
def test_terms_of_any_text_are_short_and_the_same_again(text: str) -> None:
    found = terms(text)
    assert all(found)
    assert all(len(term) <= PREFIX_LETTERS or term[0].isdigit() for term in found)
    assert terms(text) == found


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


def test_fused_scores_worked_by_hand() -> None:
    fused = dict(reciprocal_rank_fusion([["x", "y"], ["y"]], constant=1))
    assert fused == {"x": pytest.approx(1 / 2), "y": pytest.approx(1 / 3 + 1 / 2)}


def test_equals_stay_in_the_order_they_appeared() -> None:
    assert [key for key, _ in reciprocal_rank_fusion([["x"], ["y"]])] == ["x", "y"]
    assert reciprocal_rank_fusion([]) == []


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_a_key_that_both_rankings_put_first_is_first(one: list[str], other: list[str]) -> None:
    fused = reciprocal_rank_fusion([["!", *one], ["!", *other]])
    assert fused[0][0] == "!"
    assert math.isclose(fused[0][1], 2 / 61)
    assert sorted(key for key, _ in fused) == ["!", *"abcdef"]


def verdict(first: Side, winner: Vote) -> OrderedVerdict:
    return OrderedVerdict(first, winner, "because")


@pytest.mark.parametrize(
    ("winners", "combined", "flipped"),
    [
        ((Vote.A, Vote.A), Vote.A, False),
        ((Vote.TIE, Vote.TIE), Vote.TIE, False),
        ((Vote.A, Vote.B), Vote.TIE, True),
        ((Vote.TIE, Vote.B), Vote.TIE, True),
        ((Vote.B,), Vote.B, None),
    ],
)
def test_both_orders_combine(winners: tuple[Vote, ...], combined: Vote, flipped: bool | None) -> None:
    verdicts = [verdict(side, winner) for side, winner in zip(Side, winners, strict=False)]
    assert combine_orders(verdicts) == (combined, flipped)


def test_a_judge_that_said_nothing_is_not_a_tie() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        combine_orders([])
