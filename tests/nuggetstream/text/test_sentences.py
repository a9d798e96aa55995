"""Where sentences of answers end, in scripts with and without spaces; a bar where one ends."""

import pytest

from nuggetstream.text.sentences import sentences, spans
from tests.sentence_cases import ABBREVIATIONS, LAYOUT, PLAIN, named, unmarked

# Beside those of `tests.sentence_cases`.
CASES = {
    "Chinese quotes": "真的吗？！|“是。”|结束",
    "Greek": "Πού είναι; |Δεν ξέρω; |Ίσως.",
    "a semicolon": "Tea; coffee; water.",
    "Hindi without spaces": "चाय पेय है।|क्या यह अच्छी है? |हाँ॥",
    "Japanese quotes": "「本当ですか？」|そうです！|彼は「はい。」|と言った。",
    "a list": "# Tea\n|- Boil water.\n|* Green tea\n|• Black\n|(3) White",
    "a table": "¦ Tea ¦ Cups ¦\n|¦---¦---¦\n|¦ Green ¦ 2.5 ¦",
    "a code block": "```python\n|x = 1.5\n|print('Hi.')\n|```",
}


@pytest.mark.parametrize("marked", [*CASES.values(), *(marked for _, marked in named(PLAIN))])
def test_sentences_end_where_their_script_ends_them(marked: str) -> None:
    text, expected = unmarked(marked)
    assert sentences(text) == expected
    assert [text[start:end] for start, end in spans(text)] == sentences(text)


@pytest.mark.parametrize("marked", [*(marked for _, marked in named(ABBREVIATIONS)), *LAYOUT.values()])
def test_abbreviations_and_layout_end_more_sentences_and_hide_no_end(marked: str) -> None:
    text, expected = unmarked(marked)
    place, ends = 0, set()
    for sentence in expected:
        place = text.index(sentence, place) + len(sentence)
        ends.add(place)
    assert ends <= {end for _, end in spans(text)}


@pytest.mark.parametrize(
    "text", ["", " \n ", "。", "……", "？！？！", "a" * 10_000, "。" * 5_000, "ก " * 5_000]
)
def test_no_character_but_space_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
