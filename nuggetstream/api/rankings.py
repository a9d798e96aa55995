"""Rankings of documents from run files, frames or plain values."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from nuggetstream.api.sources import Rows, rows_of
from nuggetstream.domain.inputs import VALUES, Kind, NotAccepted, check_kind, is_mark, is_missing, type_named
from nuggetstream.files.columns import column_in, find_column
from nuggetstream.files.numerals import many
from nuggetstream.files.qrels import DOCUMENT_COLUMNS, QUERY_COLUMNS, RANK_COLUMNS, RUN_COLUMNS, SCORE_COLUMNS
from nuggetstream.files.record import Record, as_number, columns_of
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.run_files import read_rankings

Ranked: TypeAlias = Mapping[str, Sequence[str] | Mapping[str, float]] | Rows
Runs: TypeAlias = str | Path | Sequence[str | Path] | Mapping[str, Ranked] | Rows
_RUNS = (
    "paths of TREC run files, a DataFrame, or run -> query -> documents, best first, or -> document -> score"
)
_RUN = "query -> documents, a DataFrame, or rows (query, document, score)"
_USUAL_NAME = "run"  # of the only run of a frame


def rankings_of_runs(runs: Runs) -> dict[str, Ranking]:
    """Run -> query -> documents, best first; of equal scores the later name comes first, as in trec_eval.

    A document whose score is missing is not ranked; a warning says how many those are.

    Raises:
        NotAccepted: They are no paths, no frame and no dictionary.
        UnusableFile: A line of a run file, or a row, cannot be used.
    """
    kind = check_kind("runs", runs, (Kind.PATH, Kind.SEQUENCE, Kind.MAPPING, Kind.FRAME), _RUNS)
    if kind is Kind.PATH:
        return read_rankings([Path(cast("str | Path", runs))])
    if kind is Kind.FRAME:
        return _rankings_of_rows(runs, _USUAL_NAME)
    if not isinstance(runs, Mapping):
        paths = cast("Sequence[Any]", runs)
        for path in paths:
            check_kind("runs", path, (Kind.PATH,), _RUNS)
        return read_rankings([Path(path) for path in paths])
    return {str(run): _ranking(f"runs[{run!r}]", str(run), ranked) for run, ranked in runs.items()}


def _ranking(location: str, run: str, ranked: object) -> Ranking:
    kind = check_kind(location, ranked, (Kind.MAPPING, Kind.FRAME, Kind.SEQUENCE, Kind.ITERATOR), _RUN)
    if kind is not Kind.MAPPING:
        rankings = _rankings_of_rows(ranked, run)
        if len(rankings) > 1:
            raise NotAccepted(f"{location}: holds the runs {', '.join(rankings)}; expected one")
        return next(iter(rankings.values()))
    return {
        str(query): _best_first(f"{location}[{query!r}]", documents)
        for query, documents in cast("Mapping[Any, Any]", ranked).items()
    }


def _best_first(location: str, documents: object) -> list[str | None]:
    kind = check_kind(location, documents, VALUES | {Kind.MAPPING}, "documents, best first, or their scores")
    if kind is not Kind.MAPPING:
        given = cast("Iterable[Any]", documents)
        return [None if is_missing(document) else _name(location, document) for document in given]
    given_scores = cast("Mapping[Any, Any]", documents)
    scores = {
        _name(location, document): _score(f"{location}[{document!r}]", score)
        for document, score in given_scores.items()
        if not (is_missing(score) or (isinstance(score, str) and is_mark(score)))
    }
    if unscored := len(given_scores) - len(scores):
        warnings.warn(f"{location}: {many(unscored, 'document')} without a score, not ranked", stacklevel=2)
    later_name_first = sorted(scores, reverse=True)
    return [*sorted(later_name_first, key=lambda name: -scores[name])]


def _name(location: str, document: object) -> str:
    if isinstance(document, Mapping | list | tuple):
        raise NotAccepted(f"{location}: holds {type_named(document)}; expected names of documents")
    return str(document)


def _score(location: str, score: object) -> float:
    number = as_number(score)
    if number != number:  # noqa: PLR0124 - NaN
        raise NotAccepted(f"{location}: is {type_named(score)}; expected a number")
    return number


def _rankings_of_rows(source: Any, usual_name: str) -> dict[str, Ranking]:
    """The rankings of rows with a query, a document and a score or rank, and perhaps the name of the run."""
    path, records = rows_of(source, ("query", "document", "score"), argument="runs")
    names = columns_of(records)
    query = find_column(path, names, None, QUERY_COLUMNS, "runs")
    document = find_column(path, names, None, DOCUMENT_COLUMNS, "runs")
    run = column_in(names, RUN_COLUMNS)
    score = column_in(names, SCORE_COLUMNS)
    rank = None if score else find_column(path, names, None, (*SCORE_COLUMNS, *RANK_COLUMNS), "runs")
    scored: dict[str, dict[str, dict[str, float | None]]] = {}
    for record in records:
        place = scored.setdefault(record.needed_key(run) if run else usual_name, {})
        documents = place.setdefault(record.needed_key(query), {})
        name = record.needed_key(document)
        if name in documents:
            raise record.wrong(document, f"{name!r} is ranked twice for query {record.key(query)!r}")
        value = _number(record, score or str(rank))
        documents[name] = None if value is None else value if score else -value
    return {
        run_name: {
            query_name: _best_first(f"run {run_name!r}, query {query_name!r}", documents)
            for query_name, documents in ranked.items()
        }
        for run_name, ranked in scored.items()
    }


def _number(record: Record, column: str) -> float | None:
    text = record.text(column)
    if text is None or is_mark(text):
        return None
    value = as_number(text)
    if value != value:  # noqa: PLR0124 - NaN
        raise record.wrong(column, f"is {text!r}; expected a number")
    return value
