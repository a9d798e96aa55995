"""Passages of runs and their grades as lines of a graded file; what was not graded stays missing."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nuggetstream.domain.grade import Grade, Grading, Subject, SubjectKind
from nuggetstream.domain.question_bank import BankKind, BankQuestion, QuestionBank
from nuggetstream.files.rubric import read_graded
from nuggetstream.rubric.answer_keys import states_key
from nuggetstream.rubric.pooling import PooledPassage, graded_record, pool
from nuggetstream.rubric.retrieval import Ranking

PASSAGE = PooledPassage("q", "p", {"x": 1, "y": 3})
BANK = QuestionBank(
    query_id="q",
    version=1,
    kind=BankKind.QUESTIONS,
    model="m",
    prompt_version="1",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    questions=tuple(BankQuestion(name, f"Which {name}?") for name in "abcd"),
)


def grade(
    item: str | None, value: float | None, criterion: str = "answered", reason: str | None = None
) -> Grade:
    subject = Subject(SubjectKind.DOCUMENT, document="p", item=item)
    return Grade(subject=subject, criterion=criterion, value=value, reason=reason)


GRADING = Grading(
    evaluator="rubric",
    model="m-2026",
    prompt_version="rubric-1",
    criteria=(),
    bank=BANK,
    grades=(
        grade(None, 0.5, "coverage"),
        grade("a", 5, reason="It says a."),
        grade("a", 1, "verified"),
        grade("b", 4, reason="It says b."),
        grade("b", 0, "verified"),
        grade("c", 2),
        grade("d", 0),
    ),
)


def test_a_run_gives_its_best_passages_and_a_shared_one_keeps_the_ranks_of_all() -> None:
    runs: dict[str, Ranking] = {"x": {"q": ["a", "b", "c"], "r": ["d"]}, "y": {"q": ["b", None, "a"]}}
    assert pool(runs, 2) == [
        PooledPassage("q", "a", {"x": 1}),
        PooledPassage("q", "b", {"x": 2, "y": 1}),
        PooledPassage("r", "d", {"x": 1}),
    ]
    assert pool(runs)[0].ranks == {"x": 1, "y": 3}
    assert pool({}) == []


@pytest.mark.parametrize(
    ("prompt_class", "grades"),
    [
        ("rubric", {"a": 5, "b": 4, "c": 2, "d": 0}),
        # b was found not to answer, nothing was found for c, and there is nothing to verify in d
        ("rubric-verified", {"a": 5, "b": 0, "d": 0}),
    ],
)
def test_grades_are_read_back_as_they_were_given(
    tmp_path: Path, prompt_class: str, grades: dict[str, int]
) -> None:
    path = tmp_path / "graded.jsonl"
    ungraded = graded_record(PooledPassage("q", "lost", {"x": 2}), None, None)
    record = graded_record(PASSAGE, "Text.", GRADING, 3, verified=True)
    path.write_text(json.dumps(["q", [record, ungraded]]), encoding="utf-8")
    first, lost = read_graded(path, prompt_class)
    assert (first.grades, first.ranks, first.judgment, first.text) == (grades, PASSAGE.ranks, 3, "Text.")
    assert first.replies == {"a": "It says a.", "b": "It says b."}
    assert (lost.grades, lost.ranks, lost.judgment, lost.text) == ({}, {"x": 2}, None, None)


def test_there_is_a_verified_set_only_where_the_model_was_asked() -> None:
    [asked] = graded_record(PASSAGE, "Text.", GRADING)["exam_grades"]
    assert asked["llm"] == "m-2026"
    assert asked["prompt_info"]["prompt_version"] == "rubric-1"
    assert (asked["correctAnswered"], asked["wrongAnswered"]) == (["a", "b"], ["c", "d"])


def test_a_grade_without_a_value_is_missing_and_not_0() -> None:
    grades = (grade("a", None), grade("b", 4), grade("b", None, "verified"), grade("c", 0))
    record = graded_record(PASSAGE, "Text.", replace(GRADING, grades=grades), verified=True)
    asked, verified = record["exam_grades"]
    assert [row["question_id"] for row in asked["self_ratings"]] == ["b", "c"]
    assert [row["question_id"] for row in verified["self_ratings"]] == ["c"]
    styles = (grade(None, None, "expert"), grade(None, 2, "graded"))
    [direct] = graded_record(PASSAGE, "Text.", replace(GRADING, bank=None, grades=styles))["grades"]
    assert (direct["prompt_info"]["prompt_class"], direct["self_ratings"]) == ("graded", 2)


def test_key_facts_are_nuggets() -> None:
    facts = replace(GRADING, bank=replace(BANK, kind=BankKind.NUGGETS))
    [asked] = graded_record(PASSAGE, "Text.", facts)["exam_grades"]
    assert {tuple(row) for row in asked["self_ratings"]} == {("nugget_id", "self_rating")}


def test_direct_grading_has_a_set_per_style(tmp_path: Path) -> None:
    styles = (grade(None, 1, "expert", "It helps."), grade(None, 2, "graded"))
    record = graded_record(PASSAGE, "Text.", replace(GRADING, bank=None, grades=styles))
    path = tmp_path / "graded.jsonl"
    path.write_text(json.dumps(["q", [record]]), encoding="utf-8")
    read = {name: read_graded(path, name)[0] for name in ("expert", "graded")}
    assert {name: passage.grades for name, passage in read.items()} == {
        "expert": {"direct": 1},
        "graded": {"direct": 2},
    }
    assert read["expert"].replies == {"direct": "It helps."}


def test_questions_with_a_key_have_a_set_in_which_only_right_answers_keep_their_grades() -> None:
    keys = {"a": ("says a",), "b": ("1889", "a tower"), "c": ("x",), "d": ("y",)}
    _, keyed = graded_record(PASSAGE, "Text.", GRADING, keys=keys)["exam_grades"]
    assert keyed["prompt_info"]["prompt_class"] == "rubric-key"
    # nothing was found for c, which leaves it open
    assert {row["question_id"]: row["self_rating"] for row in keyed["self_ratings"]} == {
        "a": 5,
        "b": 0,
        "d": 0,
    }
    assert len(graded_record(PASSAGE, "Text.", GRADING, keys={"c": ("x",)})["exam_grades"]) == 1


@pytest.mark.parametrize(
    ("finding", "keys", "stated"),
    [
        ("The Moon pulls.", ["moon"], True),
        ("Both moons pull.", ["moon"], True),
        ("The sun pulls.", ["moon"], False),
        ("It was in 1889, for a fair.", ["1889"], True),
        ("It was in 1888.", ["1889"], False),
        ("Population: 1234567.", ["1234568"], False),
        ("A tidal force.", ["gravity", "tidal forces"], True),
        ("force tidal", ["tidal force"], False),
        ("", ["moon"], False),
        ("The Moon.", ["?!"], False),
        ("The Moon.", [], False),
        ("It is not the moon.", ["the moon"], False),
        ("It isn't caused by the moon.", ["the moon"], False),
        ("The moon doesn't cause tides.", ["the moon"], False),
        ("The moon cannot.", ["the moon"], False),
        ("Der Mond ist es nicht.", ["Mond"], True),  # too far away to be sure what is denied
        ("Es ist nicht der Mond.", ["Mond"], False),
        ("Not only the moon pulls.", ["the moon"], True),
        ("The moon, not the sun.", ["the moon"], True),
        ("The moon, not the sun.", ["the sun"], False),
        ("The moon and not the sun.", ["the moon"], True),
        ("Not the sun but the moon.", ["the moon"], True),
        ("Plants that do not flower reproduce by spores.", ["spores"], True),
        ("It does not dissolve in water.", ["not dissolve"], True),
        ("It does dissolve in water.", ["does not dissolve"], False),
        ("It is 3.5 percent.", ["3.5"], True),
        ("It is in Paris, France.", ["Paris, France"], True),
        ("An inorganic compound.", ["organic"], False),
        ("An organic compound.", ["inorganic"], False),
        ("Invertebrates.", ["vertebrate"], False),
        ("It is atypical.", ["typical"], False),
    ],
)
def test_a_key_is_stated_by_its_words_side_by_side(finding: str, keys: list[str], stated: bool) -> None:
    assert states_key(finding, keys) is stated
