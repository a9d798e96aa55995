"""Measures of many texts and their means per group."""

import pytest

from nuggetstream.text.measures import NamedText
from nuggetstream.text_statistics.study import MEASURES, Mean, study_texts

LONG = " ".join(f"word{number}" for number in range(100))


def test_means_are_over_the_texts_that_have_a_value() -> None:
    texts = [
        NamedText("1", "Tides rise.", "atlas"),
        NamedText("2", LONG, "atlas"),
        NamedText("3", "", "birch"),
    ]
    study = study_texts(texts)
    atlas, birch = study.groups
    assert (atlas.group, atlas.texts, atlas.median_words) == ("atlas", 2, 51.0)
    assert atlas.means["words"] == Mean(51.0, 2)
    assert atlas.means["variety"] == Mean(1.0, 1)
    assert birch.means["words"] == Mean(0.0, 1)
    assert birch.means["reading_ease"] == Mean(None, 0)
    assert birch.median_words is None
    assert (study.overall.group, study.overall.texts) == (None, 3)
    assert set(study.overall.means) == set(MEASURES)


def test_plain_strings_are_named_by_their_position_and_have_no_group() -> None:
    study = study_texts(["Tides rise.", "Rivers flow."], language=None)
    assert [(text.name, text.group) for text in study.texts] == [("1", None), ("2", None)]
    assert study.groups == ()
    assert study.overall.means["reading_ease"].value is None


def test_a_mean_is_exact_in_any_order() -> None:
    texts = ["one two three four five six seven eight nine one"] * 10  # a type-token ratio of 0.9 each
    assert study_texts(texts).overall.means["type_token_ratio"].value == 0.9


def test_a_study_shows_itself_as_a_table_and_as_a_frame() -> None:
    study = study_texts([NamedText("1", "Tides rise.", "atlas"), NamedText("2", "Rivers flow on.", "birch")])
    assert study.to_frame()["words"].to_list() == [2.0, 3.0, 2.5]
    assert [measured.name for measured in study.texts] == ["1", "2"]
    assert "Means per group" in str(study)


def test_no_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="must be a text"):
        study_texts([])
