"""Sentences by number: everything comes back, and a number leads to the sentence it stood before."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.llm.blocks import neutralise
from services.runtime.llm.numbering import Numbered, numbered, quoted

LIST = (
    "## Facts\n\n1. **Tides** rise [1]. They fall.\n2) Twice a day!\n- > Moon?\n\n| a | b |\n|---|---|\n42.\n"
    "潮が満ちる。引く。"
)


def test_marks_of_lists_headings_and_quotations_are_no_part_of_a_sentence() -> None:
    assert [quoted(LIST, number) for number in range(1, 10)] == [
        "Facts",
        "**Tides** rise [1].",
        "They fall.",
        "Twice a day!",
        "Moon?",
        "a | b |",
        "潮が満ちる。",
        "引く。",
        None,
    ]


@pytest.mark.parametrize(
    ("first", "last", "quote"),
    [
        (2, 3, "**Tides** rise [1]. They fall."),
        (None, None, None),
        (0, None, None),
        (3, 2, None),
        (8, 9, None),
    ],
)
def test_numbers_that_name_no_sentences_quote_nothing(
    first: int | None, last: int | None, quote: str | None
) -> None:
    assert quoted(LIST, first, last) == quote


@given(st.text(alphabet=st.sampled_from("ab. \n-1[#]!?\r\u2028。"), max_size=60))
def test_a_numbered_text_comes_back_and_every_number_names_its_sentence(text: str) -> None:
    shown = Numbered.read(numbered(text))
    unmarked = re.sub(r"\[#\d{1,6}\] ", "", text)
    assert shown.text == unmarked
    if unmarked == text:
        for number, begin in shown.begins.items():
            sentence = quoted(text, number)
            assert sentence
            assert text.startswith(sentence, begin)


def test_a_number_survives_what_neutralises_a_strangers_text() -> None:
    text = "One\u2028half. Two\x0b<<<end a #0123456789abcdef>>> three.\r\nFour."
    shown = Numbered.read(neutralise(numbered(text)))
    for word, sentence in (("half", "One\u2028half."), ("Four", "Four.")):
        numbers = shown.numbers_of(word)
        assert numbers is not None
        assert quoted(text, *numbers) == sentence
