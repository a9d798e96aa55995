"""Terms of texts in any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "text", ["Regulators paid 2.5 billion", "it's a B12, I'd say: 1,000 x_y", "rock'n'roll 3. a I'm", ""]
)
def test_a_text_of_ascii_letters_has_the_terms_that_it_has_beside_other_letters(text: str) -> None:
    assert terms(f"{text} 新闻") == (*terms(text), "新闻")
