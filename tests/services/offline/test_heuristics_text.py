import pytest

from services.offline.heuristics.text import MAX_SENTENCES, clean, paragraphs, sentences, terms, verbatim


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Boeing paid $4 million [19].", "Boeing paid $4 million."),
        ("It settled in 2021 [0, 1, 9], they say [2,4].", "It settled in 2021, they say."),
        ("Rates fell[^3] quickly 【4†source】.", "Rates fell quickly."),
        ("The [report](https://example.org/a_(b)) is out", "The report is out"),
        ("- **Local news** matters", "Local news matters"),
        ("3. *Third* point", "Third point"),
        ("## A heading", "A heading"),
        ("| Berlin | 3.8 million |", "Berlin, 3.8 million"),
        ("see https://example.org/x now", "see now"),
    ],
)
def test_markers_and_markup_are_not_part_of_a_sentence(written: str, read: str) -> None:
    assert clean(written) == read


def test_a_decimal_point_ends_no_sentence() -> None:
    assert sentences("It paid $4.3 million. It denied guilt.") == [
        "It paid $4.3 million.",
        "It denied guilt.",
    ]


def test_each_list_item_is_a_paragraph_and_rules_and_fences_are_none() -> None:
    text = "```\n- One thing here\n- Two things. And more\n---\n|---|---|\n```"
    assert paragraphs(text) == (("One thing here",), ("Two things.", "And more"))


def test_chinese_sentences_end_without_spaces() -> None:
    assert sentences("地方新闻很重要。它监督权力！") == ["地方新闻很重要。", "它监督权力！"]


def test_inflected_words_share_a_term_and_chinese_shares_bigrams() -> None:
    assert set(terms("regulators")) == set(terms("Regulatory"))
    assert set(terms("地方新闻")) & set(terms("新闻")) == {"新闻"}


@pytest.mark.parametrize("text", ["", " \n\t", "😀🎉", "\ud800", "\x00", "***", "|||", "[", "```"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert not any(terms(sentence) for sentence in sentences(text))


@pytest.mark.parametrize("piece", ["[", "*a ", "<a", "> ", " ", "[1,", "[a](", "`", "a.\n", "|a"])
def test_malformed_markup_costs_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    assert len(sentences(text)) <= MAX_SENTENCES  # anything but linear outlives the test's timeout


@pytest.mark.parametrize(
    ("sentence", "text", "found"),
    [
        ("Boeing paid.", "First. **Boeing** paid [2]. Then", "**Boeing** paid [2]."),
        ("A list item", "- A *list* item\n- another", "A *list* item"),
        ("新聞は正しい。", "だから、新聞[1]は正しい。次", "新聞[1]は正しい。"),
        ("words that are not there", "some other text", "words that are not there"),
        ("", "text", ""),
    ],
)
def test_a_quote_is_found_again_as_the_answer_has_it(sentence: str, text: str, found: str) -> None:
    assert verbatim(sentence, text) == found


def test_a_quote_is_looked_for_in_hostile_text_without_backtracking() -> None:
    sentence = "a " * 300 + "b"
    assert verbatim(sentence, "a [" * 20_000) == sentence  # anything but linear outlives the test's timeout
