"""Everything that is measured on one text."""

import pytest

from nuggetstream.text.measures import TextMeasures, measure_text


def test_every_measure_of_a_small_text_by_hand() -> None:
    text = "# Tides\n\nTides rise **twice** a day [1, 2].\n- The moon pulls water [3]."
    assert measure_text(text, sources=2) == TextMeasures(
        characters=len(text),
        words=10,
        sentences=2,
        # tides tides rise twice a day the moon pulls wa-ter: 10 words, 11 syllables
        reading_ease=pytest.approx(206.835 - 1.015 * 10 / 2 - 84.6 * 11 / 10),
        type_token_ratio=9 / 10,
        variety=None,
        citations=2,
        cited_sources=2,
        invalid_citations=1,
        headers=1,
        lists=1,
        bold=1,
    )


def test_what_a_text_does_not_have_is_none_and_not_0() -> None:
    empty = measure_text("")
    assert (empty.characters, empty.words, empty.citations) == (0, 0, 0)
    assert (empty.sentences, empty.reading_ease, empty.type_token_ratio) == (None, None, None)
    assert measure_text("Tides rise [9].").invalid_citations is None  # any number of sources is possible
    assert measure_text("潮は満ちる。", language=None).reading_ease is None


def test_variety_is_of_the_first_hundred_words_whatever_follows() -> None:
    assert measure_text("one two " * 50).variety == 0.02
    assert measure_text("one two " * 50 + "three four").variety == 0.02
    assert measure_text("one two " * 49).variety is None


def test_the_first_source_may_be_known() -> None:
    assert measure_text("[19] [20]", sources=20).invalid_citations == 0
    assert measure_text("[19] [20]", sources=20, first=0).invalid_citations == 1


def test_a_language_without_a_reading_ease_is_refused() -> None:
    with pytest.raises(ValueError, match="'ja' has no reading ease"):
        measure_text("Tides rise.", language="ja")
