"""Scores of systems: a leaderboard file as it is, or labels with the rankings they are about.

A file of which the first line is four columns, the last a whole number, is qrels; any other is a leaderboard
with a header.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.qrels import RunLine, read_qrels, read_run
from nuggetstream.files.records import Record, read_records
from nuggetstream.files.text import read_text
from nuggetstream.rubric.graded import load
from nuggetstream.rubric.leaderboard_correlation import PRINTED_DIGITS
from nuggetstream.rubric.retrieval import Measured, Ranking, evaluate_all, rankings_of

_SYSTEMS = ("system", "run", "method", "model", "agent", "name")
_SCORES = ("score", "cover", "rating", "mean", "value")
_PLACES = ("rank", "place")
_COLUMNS_OF_QRELS = 4


class NoMeasure(ValueError):
    """A measure that cannot be computed from labels and rankings."""


@dataclass(frozen=True, slots=True)
class Column:
    """Which column of a leaderboard counts; without any, the first usual name that is there.

    Attributes:
        system: with the names.
        score: higher is better.
        place: 1 is best; only without a score.
    """

    system: str | None = None
    score: str | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """One way of scoring systems.

    Attributes:
        file: where the scores or labels are from.
        what: the column, or the measure.
        scores: system -> score, higher is better; places are negative.
        unscored: systems in the file that have no score.
        places: whether the scores are places.
    """

    file: str
    what: str
    scores: Mapping[str, float]
    unscored: tuple[str, ...] = ()
    places: bool = False

    def shown(self, system: str) -> float | None:
        """The score of a system as the file has it; None where it has none."""
        score = self.scores.get(system)
        return -score if self.places and score is not None else score

    def without(self, systems: Sequence[str]) -> "Scoring":
        """The same, some systems left out."""
        scores = {system: score for system, score in self.scores.items() if system not in systems}
        return replace(self, scores=scores, unscored=tuple(s for s in self.unscored if s not in systems))


def is_qrels(path: Path) -> bool:
    """Whether a file holds relevance labels rather than a leaderboard.

    Raises:
        UnusableFile: it cannot be read, or is no text.
    """
    first = next((line.split() for line in read_text(path).split("\n") if line.strip()), [])
    return len(first) == _COLUMNS_OF_QRELS and first[-1].lstrip("-").isdigit()


def read_leaderboard(path: Path, column: Column) -> Scoring:
    """The scores of a leaderboard: CSV with a header or JSONL, one system per row.

    Raises:
        UnusableFile: naming file, line and field.
    """
    records = read_records(path)
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    system = _find(path, names, column.system, _SYSTEMS, "--system")
    score = _column(path, names, column)
    places = column.score is None and (score == column.place or score in _PLACES)
    scores: dict[str, float | None] = {}
    for record in records:
        name = record.text(system)
        if name is None:
            raise record.wrong(system, "is missing")
        if name in scores:
            raise record.wrong(system, f"{name!r} is there twice")
        scores[name] = _score(record, score)
    known = {name: -value if places else value for name, value in scores.items() if value is not None}
    if not known:
        raise UnusableFile(f"{path}: {score}: none of {len(scores)} systems has a value")
    unscored = tuple(name for name, value in scores.items() if value is None)
    return Scoring(str(path), score, known, unscored, places)


def read_rankings(runs: Sequence[Path], graded: Path | None) -> dict[str, Ranking]:
    """System -> its ranking, from run files or from the ranks a graded file recorded.

    Documents of a run are in the order of their scores, as trec_eval takes them: its rank column does not
    count, and of equal scores the later name is first.

    Args:
        runs: files of one run each, named by its tag.
        graded: a graded file; None for none.

    Raises:
        UnusableFile: naming file, line and field.
    """
    found: dict[str, Ranking] = {}
    if graded is not None:
        try:
            found = rankings_of(load(graded).passages)
        except UnusableFile:
            raise
        except ValueError as error:
            raise UnusableFile(f"{graded}: rank: {error}") from error
    for path in runs:
        lines = read_run(path)
        tags = sorted({line.run for line in lines})
        if len(tags) != 1:
            said = f"holds {', '.join(tags)}; expected one run" if tags else "holds no line"
            raise UnusableFile(f"{path}: tag: {said}")
        if tags[0] in found:
            raise UnusableFile(f"{path}: tag: the run {tags[0]!r} is there twice")
        found[tags[0]] = _ranking(lines)
    return found


def score_by_labels(
    path: Path, labels: Sequence[Relevance], rankings: Mapping[str, Ranking], measure: str
) -> Scoring:
    """Every ranking by one measure, rounded as trec_eval prints it: leaderboards are made from that.

    Raises:
        NoMeasure: ir_measures knows none of this name, or it needs more than labels and rankings.
    """
    found = measured(rankings, labels, measure)
    return Scoring(
        str(path), measure, {system: round(one.mean, PRINTED_DIGITS) for system, one in found.items()}
    )


def measured(
    rankings: Mapping[str, Ranking], labels: Sequence[Relevance], measure: str
) -> dict[str, Measured]:
    """Every ranking by one measure.

    Raises:
        NoMeasure: ir_measures knows none of this name, or it needs more than labels and rankings.
    """
    try:
        return evaluate_all(rankings, labels, measure)
    except (RuntimeError, ValueError) as error:
        raise NoMeasure(f"--measure: {error}") from error


def read_labels(path: Path) -> list[Relevance]:
    """The labels of a qrels file.

    Raises:
        UnusableFile: naming file, line and field; also when it is empty.
    """
    labels = read_qrels(path)
    if not labels:
        raise UnusableFile(f"{path}: holds no label")
    return labels


def _ranking(lines: Sequence[RunLine]) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    later_first = sorted(lines, key=lambda line: line.document, reverse=True)
    for line in sorted(later_first, key=lambda line: -line.score):
        found.setdefault(line.query, []).append(line.document)
    return found


def _column(path: Path, names: Sequence[str], column: Column) -> str:
    if column.place is not None and column.score is None:
        return _find(path, names, column.place, (), "--place")
    return _find(path, names, column.score, (*_SCORES, *_PLACES), "--score")


def _find(path: Path, names: Sequence[str], said: str | None, usual: Sequence[str], option: str) -> str:
    found = next((name for name in ((said,) if said else usual) if name in names), None)
    if found is None:
        wanted = said or " or ".join(usual)
        raise UnusableFile(f"{path}: {wanted}: is no column, see {option}; it has {', '.join(names)}")
    return found


def _score(record: Record, column: str) -> float | None:
    said = record.text(column)
    if said is None:
        return None
    try:
        value = float(said)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise record.wrong(column, f"is {said!r}; expected a number")
    return value
