"""Rubric files as the autograding workbench writes them: graded passages, question and nugget banks.

A graded file holds one JSON array per line, `[query id, [passage, ...]]`; a bank one JSON object per
query. Plain or gzipped.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.graded_passage import MAXIMUM_GRADE, MINIMUM_GRADE, GradedPassage
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.text import read_text

_ITEM_LISTS = ("items", "questions")
_KINDS = ("question", "nugget")


@dataclass(frozen=True, slots=True)
class BankItem:
    """One question or nugget of a bank."""

    query: str
    id: str
    text: str


def read_graded(path: Path, prompt_class: str | None = None) -> list[GradedPassage]:
    """The passages of a graded file in order.

    Args:
        path: of the file.
        prompt_class: whose grades to take; without it each passage must carry exactly one set.

    Raises:
        UnusableFile: naming file, line and field: it cannot be read, a line is no such array, a grade or
            rank is none, a passage is there twice, or has not exactly one set of grades to take.
    """
    found: list[GradedPassage] = []
    seen: set[tuple[str, str]] = set()
    for number, record in _records(path):
        try:
            passages = list(_passages(record, prompt_class))
        except KeyError as error:
            raise UnusableFile(f"{path}:{number}: {error.args[0]}: is missing") from error
        except ValueError as error:
            raise UnusableFile(f"{path}:{number}: {error}") from error
        except (AttributeError, TypeError) as error:
            raise UnusableFile(f"{path}:{number}: no graded passages: {error!r}") from error
        for one in passages:
            if (one.query, one.passage) in seen:
                twice = f"{one.passage!r} is there twice for query {one.query!r}"
                raise UnusableFile(f"{path}:{number}: paragraph_id: {twice}")
            seen.add((one.query, one.passage))
        found += passages
    return found


def read_bank(path: Path) -> list[BankItem]:
    """The questions or nuggets of a bank in order.

    Raises:
        UnusableFile: it cannot be read, or a line holds no items.
    """
    found = []
    for number, record in _records(path):
        try:
            items = next(record[name] for name in _ITEM_LISTS if name in record)
            found += [_bank_item(str(record["query_id"]), item) for item in items]
        except (KeyError, TypeError, StopIteration) as error:
            raise UnusableFile(f"{path}:{number}: no bank of questions or nuggets: {error!r}") from error
    return found


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UnusableFile(f"{path}:{number}: is not JSON: {error}") from error


def _passages(record: Any, prompt_class: str | None) -> Iterator[GradedPassage]:
    shaped = isinstance(record, list) and len(record) == 2 and isinstance(record[1], list)
    if not shaped or not isinstance(record[0], str | int):
        raise ValueError("is no array of a query id and its passages")
    if any(not isinstance(passage, dict) for passage in record[1]):
        raise ValueError(f"query {record[0]!r}: holds something else than passages")
    for passage in record[1]:
        yield _graded(str(record[0]), passage, prompt_class)


def _graded(query: str, passage: Mapping[str, Any], prompt_class: str | None) -> GradedPassage:
    name = str(passage["paragraph_id"])
    data = passage.get("paragraph_data") or {}
    grades = _one_set(name, passage["exam_grades"], prompt_class)
    judged = [_whole(name, "relevance", row) for row in data.get("judgments", ())]
    rated = [(_item_id(row), _whole(name, "self_rating", row)) for row in grades["self_ratings"]]
    if outside := [grade for _, grade in rated if not MINIMUM_GRADE <= grade <= MAXIMUM_GRADE]:
        raise ValueError(f"self_rating: is {outside[0]} for passage {name!r}; expected 0 to 5")
    ranked = [(str(row["method"]), _whole(name, "rank", row)) for row in data.get("rankings", ())]
    if below := [rank for _, rank in ranked if rank < 0]:
        raise ValueError(f"rank: is {below[0]} for passage {name!r}; expected 0 or more")
    return GradedPassage(
        query=query,
        passage=name,
        grades=_once(name, "self_ratings", rated),
        judgment=min(judged, default=None),
        ranks=_once(name, "rankings", ranked),
        text=str(passage.get("text") or ""),
        replies=_replies(name, grades.get("answers") or ()),
    )


def _replies(passage: str, answers: Sequence[Any]) -> dict[str, str]:
    """What the grader wrote; a reply that never came is not there."""
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in answers):
        raise ValueError(f"answers: passage {passage!r} has something else than pairs of item and reply")
    return {str(item): str(reply) for item, reply in answers if reply is not None}


def _whole(passage: str, field: str, row: Mapping[str, Any]) -> int:
    """A whole number, also as text; 3.7 is none and must not become 3."""
    value = row[field]
    try:
        number = None if isinstance(value, bool) else int(value)
    except (OverflowError, TypeError, ValueError):
        number = None
    if number is None or (isinstance(value, float) and number != value):
        raise ValueError(f"{field}: is {value!r} for passage {passage!r}; expected a whole number")
    return number


def _once(passage: str, field: str, pairs: Sequence[tuple[str, int]]) -> dict[str, int]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{field}: passage {passage!r} has {twice!r} twice")
    return found


def _one_set(name: str, sets: Any, prompt_class: str | None) -> Mapping[str, Any]:
    if not isinstance(sets, list) or not all(isinstance(one, dict) for one in sets):
        raise ValueError(f"exam_grades: passage {name!r} has no list of sets of grades")
    wanted = [
        one for one in sets if prompt_class in (None, (one.get("prompt_info") or {}).get("prompt_class"))
    ]
    if len(wanted) != 1:
        raise ValueError(f"exam_grades: passage {name!r} has {len(wanted)} sets of grades where one is due")
    found: Mapping[str, Any] = wanted[0]
    return found


def _item_id(row: Mapping[str, Any]) -> str:
    named = (row[f"{kind}_id"] for kind in _KINDS if row.get(f"{kind}_id"))
    found = next(named, None)
    if found is None:
        raise ValueError("self_ratings: a grade names neither a question_id nor a nugget_id")
    return str(found)


def _bank_item(query: str, item: Mapping[str, Any]) -> BankItem:
    kind = next(kind for kind in _KINDS if f"{kind}_id" in item)
    return BankItem(query, str(item[f"{kind}_id"]), str(item[f"{kind}_text"]))
