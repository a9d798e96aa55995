"""Flesch reading ease: by hand, and side by side with textstat."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import textstat
from hypothesis import given
from hypothesis import strategies as st
from textstat.backend import counts, metrics

from nuggetstream.text.citations import without_citations
from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.readability import (
    READABLE_LANGUAGES,
    ReadingCounts,
    is_readable_language,
    reading_counts,
    reading_ease,
)

GERMAN = "Der Fluss führt Hochwasser. Die Anwohner verlassen ihre Häuser, z. B. am Ufer! Wer hilft?"
ENGLISH = [
    "The cat sat on the mat. It did not move.",
    "Well-known rivers rise, e.g. the Elbe, by 2.5 metres. The town's people don't sleep...",
    "# A title\n\n- First point without a stop\n- Second point: 'quoted' words\n\nNo.Space after a stop",
    "He said: \"It won't rise!\" We'd rather they'd left; I'll go... 3,000 people stayed?!",
    "One word",
    "Straße, naïve café, co-operate, o'clock and rock 'n' roll",
]


@pytest.fixture
def hyphenating_textstat(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package textstat without its English dictionary, which it would download.

    It treats English as it treats every other language: it hyphenates.
    """
    cached = (counts.count_syllables, metrics.syllables_per_word, metrics.flesch_reading_ease)
    monkeypatch.setattr("textstat.backend.counts._count_syllables.get_cmudict", lambda language: None)
    for function in cached:
        function.cache_clear()
    textstat.set_lang("en_US")
    yield
    for function in cached:
        function.cache_clear()
    textstat.set_lang("en_US")


def test_reading_ease_by_hand() -> None:
    # Ten words of one syllable in two sentences.
    assert reading_ease("The cat sat on the mat. It did not move.") == pytest.approx(206.835 - 5.075 - 84.6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The river carries water. Water carries big boats!", ReadingCounts(8, 2, 13)),
        (
            "The river rose. The town below it did not",
            ReadingCounts(9, 2, 11),
        ),  # the end of the text ends one
        (
            "The dam held 2.5 metres; none slept...",
            ReadingCounts(7, 2, 8),
        ),  # 2.5 is one word, and its point ends one
        ("Yes. No.", ReadingCounts(2, 1, 2)),  # fragments only, and still one sentence
    ],
)
def test_words_sentences_and_syllables_by_hand(text: str, expected: ReadingCounts) -> None:
    assert reading_counts(text) == expected


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_what_textstat_computes_when_it_hyphenates(hyphenating_textstat: None, text: str) -> None:
    assert reading_ease(text) == pytest.approx(textstat.flesch_reading_ease(text), abs=1e-9)


@pytest.mark.parametrize("language", [name for name in READABLE_LANGUAGES if name != "en"])
def test_other_languages_are_what_textstat_computes(language: str) -> None:
    textstat.set_lang(language)
    try:
        theirs = textstat.flesch_reading_ease(GERMAN)
    finally:
        textstat.set_lang("en_US")
    assert reading_ease(GERMAN, language) == pytest.approx(theirs, abs=1e-9)


@given(st.text(st.sampled_from("aeiourstn'’.!? -,\n3_é"), min_size=1, max_size=60))
def test_any_text_with_a_letter_has_the_counts_of_textstat(text: str) -> None:
    try:
        ours = reading_counts(text, "de")
    except NothingToMeasure:
        return
    theirs = (counts.count_words(text), counts.count_sentences(text), counts.count_syllables(text, "de"))
    assert (ours.words, ours.sentences, ours.syllables) == theirs


def test_recorded_answers_read_as_textstat_reads_them(
    hyphenating_textstat: None, recorded_data: Path
) -> None:
    with gzip.open(recorded_data / "crowdrag25" / "battles.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {json.loads(line)[side]["text"] for line in lines for side in "ab"}
    assert len(texts) > 200
    for text in map(without_citations, texts):
        assert reading_ease(text) == pytest.approx(textstat.flesch_reading_ease(text), abs=1e-9)


def test_longer_words_and_sentences_read_harder() -> None:
    hard = "Multidimensional characteristics notwithstanding, institutional considerations predominate"
    assert reading_ease(hard) < 0 < reading_ease("The sun is up. We go out.")


@pytest.mark.parametrize("text", ["123 ...", "", "— _ —"])
def test_a_text_without_letters_has_no_reading_ease(text: str) -> None:
    with pytest.raises(NothingToMeasure):
        reading_ease(text)


def test_a_language_without_a_formula_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'ja' has no reading ease; expected one of de, en"):
        reading_ease("The sun is up.", "ja")
    assert reading_ease("The sun is up.", "en-GB") == reading_ease("The sun is up.")
    assert (is_readable_language("EN_us"), is_readable_language("")) == (True, False)
