"""Sentences that say the same of different names."""

import pytest

from nuggetstream.text.other_names import has_other_name


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The capital of Australia is Canberra.", "The capital of Australia is **Sydney**."),
        ("Canberra is the capital of Australia.", "The capital of Australia is Sydney [2]."),
        ("Cairo is the capital of Egypt.", "However, Alexandria is the capital of Egypt."),
        ("Marie Curie discovered radium.", "Robert Koch discovered radium."),
        ("Tides are caused by the Moon.", "Tides are caused by the Sun."),
        ("Die Hauptstadt von Australien ist Canberra.", "Die Hauptstadt von Australien ist Sydney."),
        ("Столица Австралии — Канберра.", "Столица Австралии — Сидней."),
    ],
)
def test_the_same_is_said_of_another_name(claim: str, sentence: str) -> None:
    assert has_other_name(claim, sentence)
    assert has_other_name(sentence, claim)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Canberra is the capital of Australia.", "It is the capital of Australia."),
        ("Barack Obama was born in Hawaii.", "Obama was born in Hawaii."),
        ("Most coasts have two tides a day.", "Many coasts have two tides a day."),
        ("The Moon moves the water.", "The Moon moves the sea."),
        ("Canberra is the capital of Australia.", "Sydney is a large city of Australia."),
        ("However, tides follow the Moon.", "Therefore, tides follow the Moon."),
        ("Canberra.", "Sydney."),
        ("開羅是埃及的首都。", "亞歷山大是埃及的首都。"),
    ],
)
def test_anything_else_is_left_to_the_comparison_of_words(claim: str, sentence: str) -> None:
    assert not has_other_name(claim, sentence)
    assert not has_other_name(sentence, claim)
