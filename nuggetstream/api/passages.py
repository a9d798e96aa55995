"""Graded passages, relevance labels and rankings from files or plain values."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from nuggetstream.api.rankings import Runs, rankings_of_runs
from nuggetstream.api.sources import Rows, rows_of
from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.domain.inputs import ROWS, Kind, check_kind, is_finite_number, kind_of
from nuggetstream.files.columns import find_column
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import DOCUMENT_COLUMNS, QUERY_COLUMNS, RELEVANCE_COLUMNS
from nuggetstream.files.record import Record, as_number, columns_of, without_marks
from nuggetstream.rubric.graded import Graded, load
from nuggetstream.rubric.leaderboards import read_labels
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.scoring import Labels

Passages: TypeAlias = Graded | Rows | Sequence[GradedPassage]
Qrels: TypeAlias = str | Path | Labels | Rows | Mapping[str, Mapping[str, int]]
_USUAL = (QUERY_COLUMNS, DOCUMENT_COLUMNS, RELEVANCE_COLUMNS)
_NAMES = ("query", "document", "label")
_QRELS = "the path of a qrels file, a DataFrame, rows (query, document, label), or query -> document -> label"
_GRADED = "the path of a graded file, a DataFrame, or rows (query, passage, item, grade)"


def graded_of(
    source: Passages, runs: Runs | None, prompt_class: str | None, argument: str = "graded"
) -> Graded:
    """Graded passages from a file, from one row per grade, or from values, with the ranks of runs.

    Raises:
        UnusableFile: A row cannot be used.
    """
    if isinstance(source, Graded):
        graded = source
    elif check_kind(argument, source, ROWS, _GRADED) is Kind.PATH:
        graded = load(Path(source), prompt_class)  # type: ignore[arg-type]  # its kind says so
    else:
        graded = Graded.of(_passages(source))
    if runs is None:
        return graded
    return Graded.of(_ranked(graded.passages, rankings_of_runs(runs)), graded.basis.file)


def labels_of(source: Qrels, argument: str = "labels") -> Labels:
    """Relevance labels from a qrels file, rows or nested dictionaries.

    A label that is missing is no label; `Labels.remarks` counts those.

    Raises:
        NotAccepted: It is none of them.
        UnusableFile: A line or row cannot be used.
    """
    if isinstance(source, Labels):
        return source
    kind = check_kind(argument, source, ROWS | {Kind.MAPPING}, _QRELS)
    if kind is Kind.PATH:
        return read_labels(Path(source))  # type: ignore[arg-type]  # its kind says so
    rows: Any = source
    if isinstance(source, Mapping):
        rows = [
            (query, name, label)
            for query, labels in source.items()
            for name, label in _documents_of(f"{argument}[{query!r}]", labels)
        ]
    path, given = rows_of(
        rows, ("query", "document", "label"), None if kind is Kind.FRAME else "labels", argument
    )
    names = columns_of(given)
    query, document, label = (
        find_column(path, names, None, usual, option) for usual, option in zip(_USUAL, _NAMES, strict=True)
    )
    records, remarks = without_marks(given, {label: is_finite_number})
    labels: dict[tuple[str, str], Relevance] = {}
    for record in records:
        key = record.needed_key(query), record.needed_key(document)
        if key in labels:
            raise record.wrong(document, f"{key[1]!r} is labelled twice for query {key[0]!r}")
        if record.text(label) is not None:
            labels[key] = Relevance(*key, _whole(record, label))
    if not labels:
        raise UnusableFile(f"{path}: {label}: none of {len(records)} rows has one")
    unlabelled = len(records) - len(labels)
    said = (f"{many(unlabelled, 'row')} without a label, left out",) if unlabelled else ()
    return Labels(tuple(labels.values()), remarks=(*remarks, *said))


def _documents_of(location: str, given: object) -> Iterable[tuple[Any, Any]]:
    check_kind(location, given, (Kind.MAPPING,), "documents and their labels, in a dictionary")
    return cast("Mapping[Any, Any]", given).items()


def _passages(source: Rows | Sequence[GradedPassage]) -> list[GradedPassage]:
    if kind_of(source) is not Kind.FRAME:
        rows: list[Any] = list(source)  # type: ignore[arg-type]
        if rows and all(isinstance(row, GradedPassage) for row in rows):
            return rows
        source = rows
    _, given = rows_of(cast("Rows", source), ("query", "passage", "item", "grade"), argument="graded")
    records, remarks = without_marks(given, dict.fromkeys(("grade", "judgment"), is_finite_number))
    for remark in remarks:
        warnings.warn(remark, stacklevel=4)
    passages: dict[tuple[str, str], GradedPassage] = {}
    for record in records:
        key = record.needed_key("query"), record.needed_key("passage")
        passages[key] = _with_grade(passages.get(key) or _ungraded(*key), record)
    return list(passages.values())


def _with_grade(passage: GradedPassage, record: Record) -> GradedPassage:
    judgment = None if record.text("judgment") is None else _whole(record, "judgment")
    if passage.judgment is not None and judgment not in (None, passage.judgment):
        raise record.wrong("judgment", f"is {judgment}, and {passage.judgment} in an earlier row")
    item = record.key("item")
    grades = dict(passage.grades)
    if item is not None and record.text("grade") is not None:
        if item in grades:
            raise record.wrong("item", f"{item!r} is graded twice for passage {passage.passage!r}")
        grades[item] = _whole(record, "grade")
    try:
        return replace(passage, grades=grades, judgment=passage.judgment if judgment is None else judgment)
    except ValueError as error:
        raise record.wrong("grade", str(error)) from error


def _ranked(passages: Iterable[GradedPassage], rankings: Mapping[str, Ranking]) -> list[GradedPassage]:
    """The passages with their ranks; a passage that only a run knows has no grade."""
    by_name = {(passage.query, passage.passage): passage for passage in passages}
    ranks: dict[tuple[str, str], dict[str, int]] = {key: dict(p.ranks) for key, p in by_name.items()}
    for run, ranking in rankings.items():
        for query, names in ranking.items():
            for rank, name in enumerate(names, start=1):
                if name is not None:
                    ranks.setdefault((query, name), {})[run] = rank
    return [replace(by_name.get(key) or _ungraded(*key), ranks=given) for key, given in ranks.items()]


def _ungraded(query: str, passage: str) -> GradedPassage:
    return GradedPassage(query=query, passage=passage, grades={})


def _whole(record: Record, field: str) -> int:
    text = record.needed(field)
    value = as_number(text)
    if value % 1:
        raise record.wrong(field, f"is {text!r}; expected a whole number")
    return int(value)
