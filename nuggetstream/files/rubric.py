"""Rubric files as the autograding workbench writes them: graded passages, question and nugget banks.

A graded file holds one JSON array per line, `[query id, [passage, ...]]`; a bank one JSON object per
query. Both may be gzipped.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.domain.question_bank import BankKind
from nuggetstream.files.grade_sets import KINDS, GradeSet, grade_sets, once_each, whole_number
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import read_text

_ITEM_LISTS = ("items", "questions")
_BANKS = {"question": BankKind.QUESTIONS, "nugget": BankKind.NUGGETS}


@dataclass(frozen=True, slots=True)
class BankItem:
    """One question or nugget of a bank.

    Attributes:
        query: Id of the query.
        id: Id of the question or nugget.
        text: What it asks or states.
        keys: Right answers of a test; empty where there are none.
    """

    query: str
    id: str
    text: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryBank:
    """The questions or nuggets of one query.

    Attributes:
        query: Id of the query.
        text: The query; None where the file does not say.
        kind: Whether it consists of questions or of nuggets.
        items: At least one, each with an id of its own and a text.
    """

    query: str
    text: str | None
    kind: BankKind
    items: tuple[BankItem, ...]


def read_graded(path: Path, prompt_class: str | None = None) -> list[GradedPassage]:
    """The passages of a graded file in order; a passage without a set of grades is ungraded.

    Args:
        path: The file.
        prompt_class: Which grades to take; without it no passage may carry more than one set.

    Raises:
        UnusableFile: The file cannot be read, a line is no such array, a grade or rank cannot be used, a
            passage is there twice, a passage has several sets of grades to take, or no passage has a set of
            the class asked for; names file, line and field.
    """
    return _read(_records(path), str(path), prompt_class)


def passages_of(
    lines: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], prompt_class: str | None = None
) -> list[GradedPassage]:
    """The passages of lines of a graded file, as `read_graded` gives them.

    Raises:
        UnusableFile: A line cannot be used.
    """
    records = ((number, [query, list(passages)]) for number, (query, passages) in enumerate(lines, start=1))
    return _read(records, "graded passages", prompt_class)


def _read(records: Iterable[tuple[int, Any]], name: str, prompt_class: str | None) -> list[GradedPassage]:
    passages: list[GradedPassage] = []
    seen: set[tuple[str, str]] = set()
    classes: set[str | None] = set()
    for number, record in records:
        try:
            read = list(_passages(record, prompt_class, classes))
        except KeyError as error:
            raise UnusableFile(f"{name}:{number}: {error.args[0]}: is missing") from error
        except ValueError as error:
            raise UnusableFile(f"{name}:{number}: {error}") from error
        except (AttributeError, TypeError) as error:
            raise UnusableFile(f"{name}:{number}: no graded passages: {error!r}") from error
        for passage in read:
            key = (passage.query, passage.passage)
            if key in seen:
                twice = f"{passage.passage!r} is there twice for query {passage.query!r}"
                raise UnusableFile(f"{name}:{number}: paragraph_id: {twice}")
            seen.add(key)
        passages += read
    if passages and prompt_class is not None and prompt_class not in classes:
        present = ", ".join(sorted(name for name in classes if name is not None)) or "none"
        raise UnusableFile(
            f"{name}: prompt_class: no passage has grades of {prompt_class!r}; classes there: {present}"
        )
    return passages


def graded_lines(path: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each query of a graded file with its passages and all their fields.

    Raises:
        UnusableFile: As for `read_graded`.
    """
    try:
        return [(str(query), list(passages)) for _, (query, passages) in _records(path)]
    except (TypeError, ValueError) as error:
        raise UnusableFile(f"{path}: no graded passages: {error}") from error


def prompt_classes(path: Path) -> list[str]:
    """The named prompt classes of the sets of grades in a graded file, in the order of first appearance.

    Raises:
        UnusableFile: The file cannot be read, or a line is no JSON.
    """
    return list(
        dict.fromkeys(
            str(name)
            for _, record in _records(path)
            if isinstance(record, list) and len(record) == 2 and isinstance(record[1], list)
            for passage in record[1]
            if isinstance(passage, dict)
            for grades in (*(passage.get("exam_grades") or ()), *(passage.get("grades") or ()))
            if (name := (grades.get("prompt_info") or {}).get("prompt_class")) is not None
        )
    )


def read_bank(path: Path) -> list[BankItem]:
    """The questions or nuggets of a bank in order.

    Raises:
        UnusableFile: The file cannot be read, or a line holds no items.
    """
    return [item for _, _, items in _bank_lines(path) for item in items]


def read_query_banks(path: Path) -> dict[str, QueryBank]:
    """The bank of each query, by id of the query. An item that is repeated counts once.

    Raises:
        UnusableFile: The file cannot be read, or a line cannot be graded on: it holds no items or items of
            both kinds, an item has no text, two have one id, or the query has an earlier line.
    """
    banks: dict[str, QueryBank] = {}
    for number, record, items in _bank_lines(path):
        query = str(record["query_id"])
        if query in banks:
            raise UnusableFile(f"{path}:{number}: query_id: {query!r} is there twice; keep one of its banks")
        try:
            banks[query] = _query_bank(query, record, items)
        except ValueError as error:
            raise UnusableFile(f"{path}:{number}: {error}") from error
    return banks


def _query_bank(query: str, record: Any, given: Sequence[BankItem]) -> QueryBank:
    items = tuple(dict.fromkeys(given))  # published banks repeat items
    kinds, ids = {kind_of(item) for item in items_of_line(record)}, [item.id for item in items]
    if len(kinds) != 1:
        raise ValueError("items: expected questions or nuggets, not none and not both")
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ValueError(f"items: {twice!r} is there twice, with different texts")
    if blank := next((item.id for item in items if not item.text.strip()), None):
        raise ValueError(f"items: {blank!r} has no text")
    text = record.get("query_text")
    return QueryBank(query, str(text) if text else None, _BANKS[kinds.pop()], items)


def _bank_lines(path: Path) -> Iterator[tuple[int, Any, list[BankItem]]]:
    for number, record in _records(path):
        try:
            items = [_bank_item(str(record["query_id"]), item) for item in items_of_line(record)]
        except (KeyError, TypeError, StopIteration) as error:
            raise UnusableFile(f"{path}:{number}: no bank of questions or nuggets: {error!r}") from error
        yield number, record, items


def items_of_line(record: Any) -> Any:
    """The questions or nuggets of one line of a bank."""
    return next(record[name] for name in _ITEM_LISTS if name in record)


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UnusableFile(f"{path}:{number}: is not JSON: {error}") from error


def _passages(record: Any, prompt_class: str | None, classes: set[str | None]) -> Iterator[GradedPassage]:
    shaped = isinstance(record, list) and len(record) == 2 and isinstance(record[1], list)
    if not shaped or not isinstance(record[0], str | int):
        raise ValueError("is no array of a query id and its passages")
    if any(not isinstance(passage, dict) for passage in record[1]):
        raise ValueError(f"query {record[0]!r}: holds something else than passages")
    for passage in record[1]:
        name = str(passage["paragraph_id"])
        sets = grade_sets(passage, name)
        classes.update(grades.prompt_class for grades in sets)
        yield _graded(str(record[0]), name, passage, _chosen(sets, name, prompt_class))


def _chosen(sets: list[GradeSet], name: str, prompt_class: str | None) -> GradeSet:
    wanted = [grades for grades in sets if prompt_class in (None, grades.prompt_class)]
    if len(wanted) > 1:
        classes = ", ".join(dict.fromkeys(grades.prompt_class or "unnamed" for grades in wanted))
        raise ValueError(
            f"exam_grades: passage {name!r} has {len(wanted)} sets of grades where one is due: {classes}; "
            "see --prompt-class"
        )
    return wanted[0] if wanted else GradeSet(prompt_class, {}, {})


def _graded(query: str, name: str, passage: Mapping[str, Any], grades: GradeSet) -> GradedPassage:
    data = passage.get("paragraph_data") or {}
    judgments = [whole_number(row, "relevance", name) for row in data.get("judgments") or ()]
    ranks = [(str(row["method"]), whole_number(row, "rank", name)) for row in data.get("rankings") or ()]
    if negative := [rank for _, rank in ranks if rank < 0]:
        raise ValueError(f"rank: is {negative[0]} for passage {name!r}; expected 0 or more")
    return GradedPassage(
        query=query,
        passage=name,
        grades=grades.grades,
        judgment=min(judgments, default=None),
        ranks=once_each(ranks, "rankings", name),
        text=str(text) if (text := passage.get("text")) else None,
        replies=grades.replies,
    )


def _bank_item(query: str, item: Mapping[str, Any]) -> BankItem:
    kind = kind_of(item)
    return BankItem(query, str(item[f"{kind}_id"]), str(item[f"{kind}_text"]), keys_of(item))


def keys_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers to a question of a bank; none where it is no test."""
    right = item.get("gold_answers") or ()
    return (right,) if isinstance(right, str) else tuple(map(str, right))


def kind_of(item: Mapping[str, Any]) -> str:
    """Whether an item of a bank is a "question" or a "nugget"."""
    return next(kind for kind in KINDS if f"{kind}_id" in item)
