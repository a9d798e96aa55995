"""The files of CrowdRAG-25: labels of people and of an LLM for pairs of answers, in seven dimensions.

    ratings.jsonl.gz               five votes per shown pair, with published spam estimates and gold
    raw_study2_responses.jsonl.gz  every vote, more than five on some pairs; the gold labels come from these
    llm_ratings.jsonl.gz           verdicts of an LLM in two modes, both orders, some pairs twice
    grades.jsonl.gz                grade 1..6 of every answer within its topic
    raw_expert-response.jsonl.gz   three experts on 30 pairs

`crowdrag_authors` finds out who wrote an answer.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.files.opening import UnusableFile, opened_text
from nuggetstream.files.record import Record
from nuggetstream.files.records import read_records
from nuggetstream.files.worker_labels import LabelColumns, read_worker_labels

DIMENSIONS = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)
# People had to choose one answer overall: there is no "neither".
FORCED_CHOICE = frozenset({"quality_overall"})
# The questionnaires have topical correctness under its earlier name.
_FIRST_NAME = {"correctness_topical": "validity"}
# The published figures of experts come from these three; the file has the answers of a fourth.
EXPERTS = frozenset({"annot1", "annot2", "annot4"})
# One prompt for all dimensions, or one prompt per dimension.
MODES = ("combined", "individual")
SIDES = ("response_a", "response_b")
COLUMNS = LabelColumns(labels=DIMENSIONS, sides=SIDES)
"""Columns of the verdicts of the LLM, and of the answers of experts as they are read here."""

Pair = tuple[str, str]
Row = Mapping[str, Any]
Parsed = TypeVar("Parsed")


def read_questionnaires(folder: Path) -> dict[str, Sequence[WorkerLabel]]:
    """Dimension -> every answer to every questionnaire, also where a pair has more than five.

    Raises:
        UnusableFile: Names the file, the line and the problem.
    """
    names = {name: _FIRST_NAME.get(name, name) for name in DIMENSIONS}
    columns = LabelColumns(labels=tuple(names.values()), sides=SIDES)
    dimensions = read_worker_labels(folder / "raw_study2_responses.jsonl.gz", columns).dimensions
    return {name: dimensions[column] for name, column in names.items()}


def read_verdicts(folder: Path) -> list[Record]:
    """The verdicts of the LLM on each pair in each mode: the first two, one per order.

    A third or fourth verdict repeats one of the first two after a retry; it is no further opinion.

    Raises:
        UnusableFile: As `read_questionnaires`.
    """
    asked: Counter[tuple[str, ...]] = Counter()
    kept = []
    for record in read_records(folder / "llm_ratings.jsonl.gz"):
        about = record.needed("inference"), *sorted(map(record.needed, SIDES))
        asked[about] += 1
        if asked[about] <= 2:
            kept.append(record)
    return kept


def read_experts(folder: Path) -> list[Record]:
    """The answers of the three experts whose agreement is published, one row per expert and pair.

    Raises:
        UnusableFile: As `read_questionnaires`.
    """
    [table] = read_records(folder / "raw_expert-response.jsonl.gz")
    rows = (
        {name: cells[index] for name, cells in table.fields.items()} for index in table.fields["prolific_pid"]
    )
    renamed = {"prolific_pid": "worker"} | {column: name for name, column in _FIRST_NAME.items()}
    return [
        Record(table.place, {renamed.get(name, name): cell for name, cell in row.items()})
        for row in rows
        if row["prolific_pid"] in EXPERTS
    ]


def read_grades(folder: Path) -> dict[str, dict[str, int]]:
    """Answer -> dimension -> grade 1 (worst) to 6 within its topic.

    Raises:
        UnusableFile: As `read_questionnaires`.
    """
    return dict(
        rows_of(
            folder / "grades.jsonl.gz",
            lambda row: (str(row["response"]), {name: int(row[name]) for name in DIMENSIONS}),
        )
    )


def rows_of(path: Path, parse: Callable[[Row], Parsed]) -> Iterator[Parsed]:
    """The rows of a gzipped JSONL file.

    Args:
        path: Path of the file.
        parse: Function that makes a value of each row.

    Raises:
        UnusableFile: Names the file, the line and the problem.
    """
    with opened_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            yield _parsed(f"{path}:{number}", line, parse)


def _parsed(where: str, line: str, parse: Callable[[Row], Parsed]) -> Parsed:
    try:
        return parse(json.loads(line))
    except KeyError as error:
        raise UnusableFile(f"{where}: {error.args[0]}: is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UnusableFile(f"{where}: {error}") from error
