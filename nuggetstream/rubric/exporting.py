"""Grades of the evaluator `rubric` as files of the autograding workbench.

    results.jsonl  ->  questions.jsonl.gz   the questions of each query, and who made them
                       nuggets.jsonl.gz     the same for key facts
                       graded.jsonl.gz      the graded answers and chunks, `[query id, [passage, …]]`

The passages of a query are its answers and chunks. The first answer of a system to a query has rank 1 in its
ranking, so that `nuggetstream rubric cover --at 1` compares systems; further answers have no rank, because
several at rank 1 would be counted together. Equal answers of one system are one passage.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.grade import SubjectKind
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.question_bank import BankKind, QuestionBank
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.graded import GradeRow, GradingRow
from nuggetstream.files.results import Results
from nuggetstream.rubric.verification import HIGH_GRADE

Json = dict[str, Any]
_EVALUATOR, _ANSWERED = "rubric", "answered"
_KIND = {BankKind.QUESTIONS: "question", BankKind.NUGGETS: "nugget"}


class NothingToExport(ValueError):
    """No battle was graded by the evaluator `rubric`."""


@dataclass(frozen=True, slots=True)
class RubricExport:
    """What was written.

    Attributes:
        files: Paths of the files: the banks, and last the graded passages.
        unranked: Answers without a rank, because their system gave the same query another answer before.
    """

    files: tuple[Path, ...]
    unranked: int


def export(results: Results, out: Path) -> RubricExport:
    """Write the files into a folder.

    Raises:
        NothingToExport: No battle has such grades.
        OSError: The folder or a file cannot be written.
    """
    graded = [
        (battle, grading, grading.bank)
        for battle in results.battles
        for grading in battle.gradings
        if grading.evaluator == _EVALUATOR and grading.bank is not None
    ]
    if not graded:
        raise NothingToExport(f"{results.name}: no battle was graded by {_EVALUATOR!r}")
    out.mkdir(parents=True, exist_ok=True)
    queries: dict[str, dict[str, Json]] = {}
    for battle, grading, bank in graded:
        passages = queries.setdefault(bank.query_id, {})
        for passage in _passages(battle, grading, bank):
            _add(passages, passage)
    unranked = sum(_rank_first_answers(passages.values()) for passages in queries.values())
    written = list(_write_banks([(battle.query, bank) for battle, _, bank in graded], out))
    lines = [[query_id, list(passages.values())] for query_id, passages in queries.items()]
    return RubricExport((*written, _write(out / "graded.jsonl.gz", lines)), unranked)


def _write_banks(banks: Sequence[tuple[str, QuestionBank]], out: Path) -> Iterator[Path]:
    for kind in _KIND:
        of_kind = [(query, bank) for query, bank in banks if bank.kind is kind]
        versions = {(bank.query_id, bank.version): bank_record(query, bank) for query, bank in of_kind}
        if versions:
            yield _write(out / f"{kind.value}.jsonl.gz", list(versions.values()))


def bank_record(query: str, bank: QuestionBank) -> Json:
    """The bank of a query as a line of a bank file; `query` is the text of the query."""
    name = _KIND[bank.kind]
    return {
        "query_id": bank.query_id,
        "test_collection": "nuggetstream",
        "query_text": query,
        "info": {
            "gpt_model": bank.model,
            "format_instruction": "json",
            "prompt_style": bank.prompt_version,
            "prompt_target": bank.kind.value,
            "description": f"version {bank.version}, {bank.created_at.isoformat()}",
        },
        "items": [
            {"query_id": bank.query_id, f"{name}_id": item.id, f"{name}_text": item.text}
            for item in bank.questions
        ],
    }


def _passages(battle: BattleRow, grading: GradingRow, bank: QuestionBank) -> Iterator[Json]:
    """The passages of one battle, each with one set of grades."""
    by_subject: dict[tuple[str, str, str | None], list[GradeRow]] = {}
    for grade in grading.grades:
        if grade.criterion != _ANSWERED or grade.item is None or grade.value is None:
            continue
        if grade.subject is SubjectKind.ANSWER:
            answer = battle.answer(grade.sides[0])
            by_subject.setdefault((_name(answer.system, answer.text), answer.text, answer.system), []).append(
                grade
            )
        elif grade.subject is SubjectKind.DOCUMENT and grade.document is not None:
            text = next((chunk.text for chunk in battle.evidence if chunk.chunk_id == grade.document), "")
            by_subject.setdefault((grade.document, text, None), []).append(grade)
    for (name, text, system), grades in by_subject.items():
        rankings = [] if system is None else [{"method": system, "queryId": bank.query_id, "rank": 1}]
        yield {
            "paragraph_id": name,
            "text": text,
            "paragraph": {},
            "paragraph_data": {"judgments": [], "rankings": rankings},
            "exam_grades": [_grades(grades, grading, bank)],
        }


def _grades(grades: Sequence[GradeRow], grading: GradingRow, bank: QuestionBank) -> Json:
    values = {grade.item or "": int(grade.value or 0) for grade in grades}
    replies = {grade.item or "": grade.reason for grade in grades if grade.reason is not None}
    prompt_class = f"{grading.prompt_version or _EVALUATOR}/{bank.kind.value}-{bank.version}"
    info = {"prompt_class": prompt_class, "is_self_rated": True}
    return exam_grades(bank.kind, values, replies, {"llm": grading.model, "prompt_info": info})


def exam_grades(
    kind: BankKind, values: Mapping[str, int], replies: Mapping[str, str], made: Mapping[str, Any]
) -> Json:
    """A set of grades of one passage as the autograding workbench has it.

    Args:
        kind: Whether the items are questions or nuggets.
        values: Item -> grade, 0 to 5; at least one.
        replies: Item -> what the grader wrote, where it is known.
        made: The fields `llm` and `prompt_info`.
    """
    good = [item for item, value in values.items() if value >= HIGH_GRADE]
    return {
        "correctAnswered": good,
        "wrongAnswered": [item for item in values if item not in good],
        "answers": [[item, reply] for item, reply in replies.items()],
        "llm_options": {},
        "exam_ratio": len(good) / len(values),
        **made,
        "self_ratings": [{f"{_KIND[kind]}_id": item, "self_rating": value} for item, value in values.items()],
    }


def _add(passages: dict[str, Json], passage: Json) -> None:
    """Add a passage; one that is there already gets the sets of grades that it lacks."""
    passage_so_far = passages.setdefault(passage["paragraph_id"], passage)
    classes = {grades["prompt_info"]["prompt_class"] for grades in passage_so_far["exam_grades"]}
    passage_so_far["exam_grades"] += [
        grades for grades in passage["exam_grades"] if grades["prompt_info"]["prompt_class"] not in classes
    ]


def _rank_first_answers(passages: Iterable[Json]) -> int:
    """Remove the ranks of all but the first answer of each system; returns how many answers lose theirs."""
    ranked, unranked = set[str](), 0
    for passage in passages:
        data = passage["paragraph_data"]
        first = [ranking for ranking in data["rankings"] if ranking["method"] not in ranked]
        ranked.update(ranking["method"] for ranking in first)
        unranked += len(data["rankings"]) - len(first)
        data["rankings"] = first
    return unranked


def _name(system: str, text: str) -> str:
    return f"answer:{derived_id(system, text)}"


def _write(path: Path, lines: Sequence[Mapping[str, Any] | list[Any]]) -> Path:
    text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(text.encode())
    return path
