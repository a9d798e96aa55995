"""The sets of grades of one passage in a file of the autograding workbench.

    exam_grades   a set per prompt class: one grade per question or nugget
    grades        direct grading: a set is one grade of the whole passage, kept under the item `direct`

A set without self-ratings records only what was answered: 1 for yes and 0 for no. A reply that the workbench
could not use has no grade, which is not a 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.domain.graded_passage import MAXIMUM_GRADE, MINIMUM_GRADE

DIRECT = "direct"
SET, VERIFIED_SET, KEY_SET = "rubric", "rubric-verified", "rubric-key"
"""Prompt classes of `nuggetstream rubric grade`; those of direct grading have the names of their styles."""
KINDS = ("question", "nugget")


@dataclass(frozen=True, slots=True)
class GradeSet:
    """One set of grades of a passage.

    Attributes:
        prompt_class: Name of the prompt that was graded with; None when it was not recorded.
        grades: Item -> grade, 0..5.
        replies: Item -> what the grader wrote, for the replies that were kept.
    """

    prompt_class: str | None
    grades: Mapping[str, int]
    replies: Mapping[str, str]


def grade_sets(passage: Mapping[str, Any], name: str) -> list[GradeSet]:
    """Every set of grades of a passage.

    Args:
        passage: A passage as JSON.
        name: Its id, for errors.

    Raises:
        KeyError: The passage has neither a field `exam_grades` nor a field `grades`, or a set lacks a field.
        ValueError: A set or a grade cannot be used; names the field.
    """
    if "exam_grades" not in passage and "grades" not in passage:
        raise KeyError("exam_grades")
    exams = _list_of_sets(passage, "exam_grades", name)
    direct = _list_of_sets(passage, "grades", name)
    return [*(_exam(grades, name) for grades in exams), *(_direct(grades, name) for grades in direct)]


def whole_number(row: Mapping[str, Any], field: str, passage: str) -> int:
    """A whole number of a row, also as text; 3.7 is not one and must not become 3.

    Raises:
        KeyError: The row has no such field.
        ValueError: The value is not a whole number.
    """
    value = row[field]
    try:
        number = None if isinstance(value, bool) else int(value)
    except (OverflowError, TypeError, ValueError):
        number = None
    if number is None or (isinstance(value, float) and number != value):
        raise ValueError(f"{field}: is {value!r} for passage {passage!r}; expected a whole number")
    return number


def once_each(pairs: Sequence[tuple[str, int]], field: str, passage: str) -> dict[str, int]:
    """Name -> number of pairs in which every name is there once.

    Raises:
        ValueError: A name is there twice.
    """
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{field}: passage {passage!r} has {twice!r} twice")
    return dict(pairs)


def _list_of_sets(passage: Mapping[str, Any], field: str, name: str) -> list[Mapping[str, Any]]:
    sets = passage.get(field)
    if sets is None:
        return []
    if not isinstance(sets, list) or not all(isinstance(grades, dict) for grades in sets):
        raise ValueError(f"{field}: passage {name!r} has no list of sets of grades")
    return sets


def _exam(grades: Mapping[str, Any], name: str) -> GradeSet:
    answered, missed = grades.get("correctAnswered"), grades.get("wrongAnswered")
    if grades.get("self_ratings") is None and isinstance(answered, list) and isinstance(missed, list):
        pairs = [(str(item), 1) for item in answered] + [(str(item), 0) for item in missed]
        field = "correctAnswered"
    else:
        pairs = [(_item_id(row), _grade(row, "self_rating", name)) for row in grades["self_ratings"]]
        field = "self_ratings"
    replies = grades.get("answers") or ()
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in replies):
        raise ValueError(f"answers: passage {name!r} has something else than pairs of item and reply")
    return GradeSet(
        prompt_class=_prompt_class(grades),
        grades=once_each(pairs, field, name),
        replies={str(item): str(reply) for item, reply in replies if reply is not None},
    )


def _direct(grades: Mapping[str, Any], name: str) -> GradeSet:
    reply = grades.get("answer")
    return GradeSet(
        prompt_class=_prompt_class(grades),
        grades=_direct_grade(grades, name),
        replies={} if reply is None else {DIRECT: str(reply)},
    )


def _direct_grade(grades: Mapping[str, Any], name: str) -> dict[str, int]:
    if grades.get("llm_response_error") is not None:
        return {}
    if grades.get("self_ratings") is not None:
        return {DIRECT: _grade(grades, "self_ratings", name)}
    match grades["correctAnswered"]:
        case bool(answered):
            return {DIRECT: int(answered)}
        case other:
            raise ValueError(f"correctAnswered: is {other!r} for passage {name!r}; expected true or false")


def _grade(row: Mapping[str, Any], field: str, passage: str) -> int:
    grade = whole_number(row, field, passage)
    if not MINIMUM_GRADE <= grade <= MAXIMUM_GRADE:
        raise ValueError(f"{field}: is {grade} for passage {passage!r}; expected 0 to 5")
    return grade


def _prompt_class(grades: Mapping[str, Any]) -> str | None:
    name = (grades.get("prompt_info") or {}).get("prompt_class")
    return None if name is None else str(name)


def _item_id(row: Mapping[str, Any]) -> str:
    name = next((row[f"{kind}_id"] for kind in KINDS if row.get(f"{kind}_id")), None)
    if name is None:
        raise ValueError("self_ratings: a grade names neither a question_id nor a nugget_id")
    return str(name)
