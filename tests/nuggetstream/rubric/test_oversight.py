"""What a person sees who oversees a rubric: each finding on a small set, and on TREC DL 2019."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nuggetstream import rubric_verify
from nuggetstream.rubric.checking import Check, Limits, check
from nuggetstream.rubric.graded import load_checked
from nuggetstream.rubric.writing import write_check
from tests.graded import graded_file, passage

GOOD, DENIED = {"q/why": 5, "q/when": 4}, {"q/why": 5, "q/when": 0}


def checked_file(folder: Path) -> Path:
    """Three passages: of one a good grade is denied, all answer q/why, and none answers q/where."""
    rows = []
    for name, judgment, verified in (("p1", 3, GOOD), ("p2", 0, DENIED), ("p3", 2, {"q/why": 4})):
        row = passage(name, GOOD | {"q/where": 1}, judgment)
        [grades] = row["exam_grades"]
        grades |= {"prompt_info": {"prompt_class": "rubric"}, "answers": [["q/when", "<b>in 1889</b>"]]}
        ratings = [{"question_id": item, "self_rating": grade} for item, grade in verified.items()]
        sets: list[dict[str, Any]] = [
            grades, {"prompt_info": {"prompt_class": "rubric-verified"}, "self_ratings": ratings}
        ]  # fmt: skip
        rows.append(row | {"exam_grades": sets})
    return graded_file(folder, {"q": rows})


def checked(folder: Path) -> Check:
    passages, checks = load_checked(checked_file(folder))
    return check(passages, Limits(), (), checks)


def test_a_good_grade_that_a_check_denies_is_named_and_an_unchecked_one_is_not(tmp_path: Path) -> None:
    [denied] = checked(tmp_path).contradicted or ()
    assert (denied.item, denied.passage, denied.grade, denied.check) == ("q/when", "p2", 4, "rubric-verified")
    assert denied.reply == "<b>in 1889</b>"


def test_questions_that_all_passages_answer_or_none_are_named(tmp_path: Path) -> None:
    found = {each.item: (each.answered, each.passages, each.best) for each in checked(tmp_path).alike}
    assert found == {"q/why": (3, 3, 5), "q/when": (3, 3, 4), "q/where": (0, 3, 1)}


def test_labels_of_a_file_stand_in_place_of_recorded_judgments(tmp_path: Path) -> None:
    file = graded_file(tmp_path, {"q": [passage("p1", {"q/a": 1}, 0), passage("p2", {"q/a": 5})]})
    assert rubric_verify(file).uncovered is None
    found = rubric_verify(file, {"q": {"p1": 2, "p2": 0, "p9": 3}})
    assert [(each.passage, each.judgment) for each in found.uncovered or ()] == [("p1", 2)]
    assert [each.item for each in (found.spurious or {})["q"]] == ["q/a"]
    assert "1 passage that the labels call relevant, and that the file lacks" in str(found.table())


def test_the_page_has_every_grade_and_runs_nothing_of_a_reply(tmp_path: Path) -> None:
    written = {path.name for path in write_check(checked(tmp_path), tmp_path / "out")}
    assert {"contradicted.csv", "alike.csv", "verify.html"} <= written
    page = (tmp_path / "out" / "verify.html").read_text(encoding="utf-8")
    assert page.count('<td class="g g') == 9
    assert '<td title="q/why">q/why</td><td>3 of 3</td>' in page.replace("\n", "")
    assert "<b>" not in page
    content = json.loads((tmp_path / "out" / "verify.json").read_text(encoding="utf-8"))
    assert (content["contradicted"], content["alike"]) == (1, 3)


def test_where_nothing_was_checked_contradictions_are_unknown(tmp_path: Path) -> None:
    assert check(load_checked(graded_file(tmp_path))[0]).contradicted is None


@pytest.mark.parametrize("minimum", [4, 5])
def test_questions_of_dl19_that_tell_nothing_are_those_of_a_second_count(
    recorded_data: Path, minimum: int
) -> None:
    file = recorded_data / "rubric" / "dl19-graded.jsonl.gz"
    good, graded = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for query, passages in map(json.loads, lines):
            for each in passages:
                for grades in each["exam_grades"]:
                    for rating in grades["self_ratings"]:
                        name = (query, rating["question_id"])
                        graded[name] += 1
                        good[name] += rating["self_rating"] >= minimum
    expected = {name: good[name] for name, count in graded.items() if good[name] in (0, count)}
    found = rubric_verify(file, min_grade=minimum)
    assert expected, "no question tells nothing"
    assert {(each.query, each.item): each.answered for each in found.alike} == expected
