"""Rubric files as the autograding workbench writes them: graded passages, question and nugget banks.

A graded file holds one JSON array per line, `[query id, [passage, ...]]`; a bank one JSON object per
query. Plain or gzipped.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.analysis.dataset import UnusableFile
from services.core.rubric.grading import GradedPassage, by_query

_GZIP = b"\x1f\x8b"
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
        UnusableFile: it cannot be read, a line is no such array, or a passage has not exactly one set
            of grades to take.
    """
    found = []
    for number, record in _records(path):
        try:
            query, passages = record
            found += [_graded(str(query), passage, prompt_class) for passage in passages]
        except (AttributeError, KeyError, TypeError, ValueError, StopIteration) as error:
            raise UnusableFile(f"{path}:{number}: no graded passages: {error!r}") from error
    return found


def graded_text(passages: Sequence[GradedPassage]) -> str:
    """Graded passages as the text of a graded file, one query per line."""
    lines = ([query, [_raw(p) for p in members]] for query, members in by_query(passages).items())
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


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


def bank_text(items: Iterable[BankItem]) -> str:
    """Bank items as the text of a question bank, one query per line."""
    grouped: dict[str, list[dict[str, str]]] = {}
    for item in items:
        row = {"query_id": item.query, "question_id": item.id, "question_text": item.text}
        grouped.setdefault(item.query, []).append(row)
    lines = ({"query_id": query, "items": rows} for query, rows in grouped.items())
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnusableFile(f"{path}: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except json.JSONDecodeError as error:
            raise UnusableFile(f"{path}:{number}: {error}") from error


def _graded(query: str, passage: Mapping[str, Any], prompt_class: str | None) -> GradedPassage:
    name = str(passage["paragraph_id"])
    data = passage.get("paragraph_data") or {}
    grades = _one_set(name, passage["exam_grades"], prompt_class)
    judged = [int(row["relevance"]) for row in data.get("judgments", ())]
    return GradedPassage(
        query=query,
        passage=name,
        grades={_item_id(row): int(row["self_rating"]) for row in grades["self_ratings"]},
        judgment=min(judged, default=None),
        ranks={str(row["method"]): int(row["rank"]) for row in data.get("rankings", ())},
        text=passage.get("text", ""),
        replies=dict(grades.get("answers", ())),
    )


def _one_set(name: str, sets: Sequence[Mapping[str, Any]], prompt_class: str | None) -> Mapping[str, Any]:
    wanted = [one for one in sets if prompt_class in (None, one.get("prompt_info", {}).get("prompt_class"))]
    if len(wanted) != 1:
        raise ValueError(f"passage {name!r} has {len(wanted)} sets of grades where one is due")
    return wanted[0]


def _item_id(row: Mapping[str, Any]) -> str:
    return str(next(row[f"{kind}_id"] for kind in _KINDS if row.get(f"{kind}_id")))


def _bank_item(query: str, item: Mapping[str, Any]) -> BankItem:
    kind = next(kind for kind in _KINDS if f"{kind}_id" in item)
    return BankItem(query, str(item[f"{kind}_id"]), str(item[f"{kind}_text"]))


def _raw(passage: GradedPassage) -> dict[str, Any]:
    judged = [] if passage.judgment is None else [{"relevance": passage.judgment}]
    return {
        "paragraph_id": passage.passage,
        "text": passage.text,
        "paragraph_data": {
            "judgments": judged,
            "rankings": [{"method": run, "rank": rank} for run, rank in passage.ranks.items()],
        },
        "exam_grades": [
            {
                "answers": [list(reply) for reply in passage.replies.items()],
                "self_ratings": [
                    {"question_id": item, "self_rating": grade} for item, grade in passage.grades.items()
                ],
            }
        ],
    }
