"""Graded passages, relevance labels and rankings from files or plain values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from nuggetstream.api.sources import Rows, rows_of
from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.files.frames import is_frame
from nuggetstream.files.record import Record, as_number
from nuggetstream.rubric.graded import Graded, load
from nuggetstream.rubric.leaderboards import read_labels
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.run_files import read_rankings
from nuggetstream.rubric.scoring import Labels

Passages: TypeAlias = Graded | Rows | Sequence[GradedPassage]
Qrels: TypeAlias = str | Path | Labels | Rows | Mapping[str, Mapping[str, int]]
Ranked: TypeAlias = Mapping[str, Sequence[str] | Mapping[str, float]]
Runs: TypeAlias = str | Path | Sequence[str | Path] | Mapping[str, Ranked]


def graded_of(source: Passages, runs: Runs | None, prompt_class: str | None) -> Graded:
    """Graded passages from a file, from one row per grade, or from values, with the ranks of runs.

    Raises:
        UnusableFile: A row cannot be used.
    """
    if isinstance(source, Graded):
        graded = source
    elif isinstance(source, str | Path):
        graded = load(Path(source), prompt_class)
    else:
        graded = Graded.of(_passages(source))
    if runs is None:
        return graded
    return Graded.of(_ranked(graded.passages, rankings_of_runs(runs)), graded.basis.file)


def labels_of(source: Qrels) -> Labels:
    """Relevance labels from a qrels file, rows or nested dictionaries.

    Raises:
        UnusableFile: A line or row cannot be used.
    """
    if isinstance(source, Labels):
        return source
    if isinstance(source, str | Path):
        return read_labels(Path(source))
    rows: Any = source
    if isinstance(source, Mapping):
        rows = [(query, name, label) for query, labels in source.items() for name, label in labels.items()]
    _, records = rows_of(rows, ("query", "document", "label"), None if is_frame(rows) else "labels")
    labels: dict[tuple[str, str], Relevance] = {}
    for record in records:
        document = "document" if "document" in record.fields else "passage"
        key = record.needed("query"), record.needed(document)
        if key in labels:
            raise record.wrong(document, f"{key[1]!r} is labelled twice for query {key[0]!r}")
        labels[key] = Relevance(*key, _whole(record, "label"))
    return Labels(tuple(labels.values()))


def rankings_of_runs(runs: Runs) -> dict[str, Ranking]:
    """Run -> query -> documents, best first; of equal scores the later name comes first, as in trec_eval.

    Raises:
        UnusableFile: A line of a run file cannot be used.
    """
    if isinstance(runs, str | Path):
        return read_rankings([Path(runs)])
    if not isinstance(runs, Mapping):
        return read_rankings([Path(path) for path in runs])
    return {
        str(run): {str(query): _best_first(documents) for query, documents in ranked.items()}
        for run, ranked in runs.items()
    }


def _best_first(documents: Sequence[str] | Mapping[str, float]) -> list[str]:
    if not isinstance(documents, Mapping):
        return list(documents)
    later_name_first = sorted(documents, reverse=True)
    return sorted(later_name_first, key=lambda name: -documents[name])


def _passages(source: Rows | Sequence[GradedPassage]) -> list[GradedPassage]:
    if not is_frame(source):
        rows: list[Any] = list(source)  # type: ignore[arg-type]
        if rows and all(isinstance(row, GradedPassage) for row in rows):
            return rows
        source = rows
    _, records = rows_of(source, ("query", "passage", "item", "grade"))
    passages: dict[tuple[str, str], GradedPassage] = {}
    for record in records:
        key = record.needed("query"), record.needed("passage")
        passages[key] = _with_grade(passages.get(key) or _ungraded(*key), record)
    return list(passages.values())


def _with_grade(passage: GradedPassage, record: Record) -> GradedPassage:
    judgment = None if record.text("judgment") is None else _whole(record, "judgment")
    if passage.judgment is not None and judgment not in (None, passage.judgment):
        raise record.wrong("judgment", f"is {judgment}, and {passage.judgment} in an earlier row")
    item = record.text("item")
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
