"""The texts of questionnaires: complete in every built-in language, and more by a study's file."""

import pytest

from nuggetstream.crowd.wording import BUILT_IN, chosen_language, text_problems, wording
from nuggetstream.files.crowd_study import CrowdStudySubmission


def test_every_built_in_language_has_every_text() -> None:
    study = CrowdStudySubmission(name="x")
    assert {*BUILT_IN["de"]} == {*BUILT_IN["en"]}
    assert text_problems({}, study.languages, study.names, graded=False) == []


def test_a_language_of_the_study_needs_every_text() -> None:
    missing = text_problems({"fr": {"title": "Comparer"}}, ["fr"], ["tone"], graded=False)
    assert len(missing) == sum(not key.startswith("dimension ") for key in BUILT_IN["en"])
    assert missing[-1] == "texts.fr: dimension tone is missing"
    full = {"fr": {**BUILT_IN["en"], "dimension tone": "?"}}
    assert text_problems(full, ["fr"], ["tone", *(CrowdStudySubmission(name="x").names)], graded=False) == []


def test_questions_that_compare_do_not_ask_for_grades() -> None:
    [problem] = text_problems({}, ["en"], ["quality_overall"], graded=True)
    assert problem == "texts.en: dimension quality_overall is missing"


def test_a_key_of_no_text_is_named() -> None:
    assert text_problems({"en": {"titel": "?"}}, ["en"], [], graded=False) == [
        "texts.en: 'titel' is the key of no text"
    ]


def test_texts_of_the_study_replace_the_built_in_ones() -> None:
    texts = wording({"de": {"title": "Tiden"}}, "de")
    assert (texts["title"], texts["begin"]) == ("Tiden", "Beginnen")


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de", "de"),
        ("de-CH,en", "de"),
        ("en;q=0.2,de;q=0.9", "de"),
        ("fr", "en"),
        ("", "en"),
        ("de;q=x", "en"),
    ],
)
def test_the_browser_says_which_language_is_read(accepted: str, language: str) -> None:
    assert chosen_language(accepted, ["en", "de"]) == language
