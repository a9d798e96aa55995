"""Where sentences of pages end, in many languages."""

import pytest

from services.indexer.sentences import sentences
from tests.sentence_cases import ABBREVIATIONS, LAYOUT, PLAIN, named, unmarked


@pytest.mark.parametrize(("language", "marked"), [*named(PLAIN), *named(ABBREVIATIONS)])
def test_sentences_end_where_a_reader_sees_them_end(language: str, marked: str) -> None:
    text, expected = unmarked(marked)
    assert [sentence.text for sentence in sentences(text, language)] == expected


@pytest.mark.parametrize("marked", LAYOUT.values(), ids=LAYOUT)
def test_lists_tables_and_code_are_split_by_lines(marked: str) -> None:
    text, expected = unmarked(marked)
    assert [sentence.text for sentence in sentences(text, "en")] == expected


def test_a_text_without_words_has_no_sentences() -> None:
    assert sentences(" \n\t\n ", "en") == []


def test_a_language_that_is_unknown_is_read_like_english() -> None:
    assert [sentence.text for sentence in sentences("Dr. Smith left. Why?", None)] == [
        "Dr. Smith left.",
        "Why?",
    ]


def test_a_wall_of_text_is_cut_and_not_lost() -> None:
    wall = "x" * 5001
    found = [sentence.text for sentence in sentences(wall, "en")]
    assert "".join(found) == wall
    assert max(map(len, found)) <= 2000
