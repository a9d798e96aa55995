"""The grades per system: means over battles, intervals, and what is missing."""

from typing import Any

from nuggetstream.report.blocks import NotMeasured
from tests.evaluated import battle
from tests.nuggetstream.report.parts import PARTS, built


def grade(value: float | None, *sides: str, criterion: str = "relevance", subject: str = "answer") -> Any:
    return {"subject": subject, "sides": list(sides), "criterion": criterion, "scale": "0-2", "value": value}


def graded(*grades: Any) -> dict[str, Any]:
    return {"gradings": [{"evaluator": "quality", "model": "m", "grades": list(grades)}]}


def test_a_mean_is_over_battles_and_a_missing_grade_is_no_zero(read: Any) -> None:
    gave_up = {"stage": "grader", "reason": "llm_refused", "evaluator": "quality"}
    found = PARTS["grades"].compute(
        read(
            battle("b1", **graded(grade(2, "a"), grade(0, "b"))),
            battle("b2", **graded(grade(1, "a"), grade(1, "b"))),
            battle("b3", failures=[gave_up]),
            battle("b4"),
        )
    )
    left, right = found
    assert (left.system, left.mean, left.graded, left.missing, left.failed) == ("left", 1.5, 2, 2, 1)
    assert (right.system, right.mean) == ("right", 0.5)
    assert left.low is not None
    assert left.high is not None
    assert 1 <= left.low <= left.mean <= left.high <= 2


def test_a_system_with_many_documents_in_one_battle_counts_that_battle_once(read: Any) -> None:
    documents = [grade(value, "a", subject="document") for value in (2, 2, 2, 0)]
    (found,) = PARTS["grades"].compute(read(battle("b1", **graded(*documents))))
    assert (found.mean, found.graded, found.low, found.high) == (1.5, 1, None, None)


def test_grades_of_queries_belong_to_no_system_and_words_have_no_mean(read: Any) -> None:
    words = grade(None, subject="query", criterion="language") | {"label": "de"}
    (found,) = PARTS["grades"].compute(read(battle("b1", **graded(grade(2, subject="query"), words))))
    assert (found.system, found.criterion) == (None, "relevance")


def test_the_section_says_what_is_missing(read: Any) -> None:
    content, numbers = built("grades", read(battle("b1", **graded(grade(2, "a"))), battle("b2")))
    (table,) = content.blocks
    assert table.rows == [("left", "answer", "relevance (0-2)", "2.00", "–", "1", "1", "0")]
    assert numbers[0]["missing"] == 1
    nothing, _ = built("grades", read(battle("b1")))
    assert nothing.blocks == (NotMeasured("grades", "no evaluator graded these battles"),)
