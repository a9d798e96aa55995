"""What the detector says of queries, and where it says nothing."""

import pytest

from nuggetstream.text.languages import MINIMUM_CONFIDENCE, detected_language


@pytest.mark.parametrize(
    ("query", "tag"),
    [
        ("Why are there two high tides a day?", "en"),
        ("Warum gibt es zweimal am Tag Flut?", "de"),
        ("¿Por qué hay dos mareas altas al día?", "es"),
        ("Pourquoi y a-t-il deux marées hautes par jour ?", "fr"),
        ("なぜ満潮は一日に二回あるのですか", "ja"),
        ("为什么每天有两次涨潮？", "zh"),
        ("Почему приливы бывают два раза в день?", "ru"),
        ("لماذا يحدث المد مرتين في اليوم؟", "ar"),
        ("왜 하루에 두 번 만조가 있나요?", "ko"),
    ],
)
def test_a_query_of_some_words_has_a_language_with_its_confidence(query: str, tag: str) -> None:
    found = detected_language(query)
    assert found is not None
    assert found.tag == tag
    assert MINIMUM_CONFIDENCE <= found.confidence <= 1


@pytest.mark.parametrize(
    "query",
    [
        "",
        "when",
        "Paris",
        "東京",
        "12345678901234567890 + 17",
        "😀😀😀😀😀😀",
        "exons definition biology",
        "\ud800" * 20,
    ],
)
def test_a_short_or_doubtful_query_has_none_instead_of_a_guess(query: str) -> None:
    assert detected_language(query) is None


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert detected_language("Why are the tides high? " * 100 + "Warum gibt es die Flut? " * 100_000) == (
        detected_language("Why are the tides high? " * 100)
    )
