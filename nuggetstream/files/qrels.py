"""TREC files: relevance labels (qrels) and runs, read strictly; labels are written back line for line."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import read_text

# Columns of tables of labels and rankings: ours, those of ir_measures and those of PyTerrier, whose `query`
# is the text beside the id.
QUERY_COLUMNS = ("query_id", "qid", "topic_id", "query", "topic")
DOCUMENT_COLUMNS = ("document", "passage", "doc_id", "docno", "docid", "document_id", "did", "doc")
RELEVANCE_COLUMNS = ("label", "relevance", "rel", "qrel", "judgment")
SCORE_COLUMNS = ("score",)
RANK_COLUMNS = ("rank",)
RUN_COLUMNS = ("run", "run_id", "runid", "tag", "system", "name")


@dataclass(frozen=True, slots=True)
class RunLine:
    """One line of a run file: `query Q0 document rank score tag`."""

    query: str
    document: str
    rank: int
    score: float
    run: str


def read_qrels(path: Path) -> list[Relevance]:
    """The labels of a qrels file (`query 0 document label`) in order; blank lines are skipped.

    Raises:
        UnusableFile: The file cannot be read, a line has other columns, or a pair is labelled twice.
    """
    labels, seen = [], set()
    for number, fields in _lines(path, 4):
        query, _, document, label = fields
        if (query, document) in seen:
            raise UnusableFile(f"{path}:{number}: {document} is labelled twice for query {query}")
        seen.add((query, document))
        labels.append(Relevance(query, document, int(_number(path, number, "label", label, whole=True))))
    return labels


def qrels_text(labels: Iterable[Relevance]) -> str:
    """Labels as the text of a qrels file.

    >>> qrels_text([Relevance("q1", "d7", 3)])
    'q1 0 d7 3\\n'
    """
    return "".join(f"{row.query} 0 {row.passage} {row.label}\n" for row in labels)


def read_run(path: Path) -> list[RunLine]:
    """The lines of a run file in order; blank lines are skipped.

    Raises:
        UnusableFile: The file cannot be read, a line has other columns, or a document is ranked twice.
    """
    run, seen = [], set()
    for number, fields in _lines(path, 6):
        query, _, document, rank, score, tag = fields
        if (query, document) in seen:
            raise UnusableFile(f"{path}:{number}: {document} is ranked twice for query {query}")
        seen.add((query, document))
        run.append(
            RunLine(
                query=query,
                document=document,
                rank=int(_number(path, number, "rank", rank, whole=True)),
                score=_number(path, number, "score", score),
                run=tag,
            )
        )
    return run


def _lines(path: Path, columns: int) -> Iterator[tuple[int, Sequence[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        fields = line.split()
        if fields and len(fields) != columns:
            raise UnusableFile(f"{path}:{number}: {len(fields)} columns where {columns} are due")
        if fields:
            yield number, fields


def _number(path: Path, line: int, field: str, text: str, *, whole: bool = False) -> float:
    try:
        number: float = int(text) if whole else float(text)
    except ValueError:
        number = math.nan
    if not (isinstance(number, int) or math.isfinite(number)):
        expected = "a whole number" if whole else "a number"
        raise UnusableFile(f"{path}:{line}: {field}: is {text!r}; expected {expected}")
    return number
