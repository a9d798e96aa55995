"""Whether two ways of scoring put systems in the same order, with what each rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.rubric.leaderboard_correlation import (
    LeaderboardCorrelation,
    NoCommonOrder,
    correlate,
    official_order,
)
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.scorings import (
    Column,
    Scoring,
    is_qrels,
    read_labels,
    read_leaderboard,
    read_rankings,
    score_by_labels,
)

_NAMED = 6
_USUAL_MEASURE = "nDCG@10"


class NothingToRank(ValueError):
    """Labels without rankings, or rankings without labels: nobody can be scored."""


class DoesNothing(ValueError):
    """An option about something that is not there: it would be ignored without a word."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What is to be compared.

    Attributes:
        first: leaderboard or labels.
        official: the same, of people.
        columns: of the two, where they are leaderboards.
        runs: files of rankings that labels score.
        graded: a graded file with the ranks of systems; None for none.
        measure: by its name in ir_measures, for labels; None for nDCG@10.
        left_out: systems that take no part.
        break_ties: give the official side places without ties, as trec_eval prints them.
    """

    first: Path
    official: Path
    columns: tuple[Column, Column] = (Column(), Column())
    runs: tuple[Path, ...] = ()
    graded: Path | None = None
    measure: str | None = None
    left_out: tuple[str, ...] = ()
    break_ties: bool = False


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries with labels: how many both sides share and which only one has."""

    shared: int
    only_first: tuple[str, ...]
    only_official: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two scorings and how far they agree.

    Attributes:
        first: likewise.
        official: likewise.
        found: coefficients over the systems that both score.
        only_first: systems that only the first scores.
        only_official: likewise.
        queries: None unless both sides are labels.
        unranked: system -> labelled queries for which it ranked nothing; they count 0.
    """

    sought: Sought
    first: Scoring
    official: Scoring
    found: LeaderboardCorrelation
    only_first: tuple[str, ...]
    only_official: tuple[str, ...]
    queries: Queries | None
    unranked: tuple[tuple[str, int], ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What changes how the numbers are read."""
        return tuple(_notes(self))


def compare(sought: Sought) -> Compared:
    """Score the systems twice and correlate the orders.

    Raises:
        UnusableFile: naming file, line and field.
        NothingToRank: labels without rankings, rankings without labels, or no query labelled by both.
        NoCommonOrder: fewer than two common systems, or one side scores all alike.
        NoMeasure: it cannot be computed from labels and rankings.
        DoesNothing: a measure without labels, or a column of labels.
    """
    paths = (sought.first, sought.official)
    labels = [read_labels(path) if is_qrels(path) else None for path in paths]
    rankings = read_rankings(sought.runs, sought.graded)
    if not rankings and any(labels):
        raise NothingToRank("relevance labels score rankings: name them with --runs or --graded")
    if rankings and not any(labels):
        raise NothingToRank("two leaderboards are compared as they are: --runs and --graded are for labels")
    _refuse_unused(sought, labels)
    measure = sought.measure or _USUAL_MEASURE
    queries = _shared(labels[0], labels[1]) if labels[0] and labels[1] else None
    shared = {row.query for row in labels[0] or ()} & {row.query for row in labels[1] or ()}
    used = [[row for row in rows if not queries or row.query in shared] if rows else None for rows in labels]
    scorings = [
        score_by_labels(path, rows, rankings, measure) if rows else read_leaderboard(path, column)
        for path, rows, column in zip(paths, used, sought.columns, strict=True)
    ]
    first, official = _without(scorings, sought.left_out)
    asked = {row.query for rows in used for row in rows or ()}
    taking_part = {name: ranking for name, ranking in rankings.items() if name not in sought.left_out}
    return _correlated(sought, first, official, queries, _unranked(taking_part, asked))


def _refuse_unused(sought: Sought, labels: Sequence[list[Relevance] | None]) -> None:
    if sought.measure is not None and not any(labels):
        raise DoesNothing("--measure does nothing without relevance labels: leaderboards have their scores")
    for side, column, rows in zip(("", "official-"), sought.columns, labels, strict=True):
        said = [name for name, value in asdict(column).items() if value is not None]
        if said and rows:
            raise DoesNothing(f"--{side}{said[0]} does nothing: the file holds relevance labels, no columns")
        if {"score", "place"} <= set(said):
            raise DoesNothing(f"--{side}place does nothing beside --{side}score")


def _without(scorings: Sequence[Scoring], left_out: Sequence[str]) -> list[Scoring]:
    there = {name for each in scorings for name in (*each.scores, *each.unscored)}
    if strangers := sorted(set(left_out) - there):
        raise UnusableFile(f"{strangers[0]!r} cannot be left out; there is {', '.join(sorted(there))}")
    return [each.without(left_out) for each in scorings]


def _correlated(
    sought: Sought,
    first: Scoring,
    official: Scoring,
    queries: Queries | None,
    unranked: tuple[tuple[str, int], ...],
) -> Compared:
    # Places are of the whole official board, the systems that the first side lacks included.
    places = official_order(official.scores) if sought.break_ties else official.scores
    try:
        found = correlate(places, first.scores)
    except NoCommonOrder as error:
        common = len(first.scores.keys() & official.scores.keys())
        why = "fewer than two" if common < 2 else "one side scores them all alike"
        raise NoCommonOrder(f"{many(common, 'system')} in both files, {why}: there is no order") from error
    return Compared(
        sought=sought,
        first=first,
        official=official,
        found=found,
        only_first=tuple(sorted(first.scores.keys() - official.scores.keys())),
        only_official=tuple(sorted(official.scores.keys() - first.scores.keys())),
        queries=queries,
        unranked=unranked,
    )


def _shared(first: Sequence[Relevance], official: Sequence[Relevance]) -> Queries:
    ours, theirs = ({row.query for row in rows} for rows in (first, official))
    if not ours & theirs:
        raise NothingToRank("no query is labelled in both files")
    return Queries(len(ours & theirs), tuple(sorted(ours - theirs)), tuple(sorted(theirs - ours)))


def _unranked(rankings: dict[str, Ranking], asked: set[str]) -> tuple[tuple[str, int], ...]:
    lacking = ((system, len(asked - ranking.keys())) for system, ranking in rankings.items())
    return tuple((system, count) for system, count in lacking if count)


def _notes(found: Compared) -> Iterator[Note]:
    for side, queries in (
        ("the first file", found.queries.only_first if found.queries else ()),
        ("the official file", found.queries.only_official if found.queries else ()),
    ):
        if queries:
            text = f"{many(len(queries), 'query', 'queries')} only in {side}, left out: {_short(queries)}"
            yield Note("query_in_one_file", text)
    for side, systems in (("first", found.only_first), ("official", found.only_official)):
        if systems:
            text = f"{many(len(systems), 'system')} only the {side} side scores, left out: {_short(systems)}"
            yield Note("system_in_one_file", text)
    for scoring in (found.first, found.official):
        if scoring.unscored:
            lacking = f"{many(len(scoring.unscored), 'system')} without {scoring.what} in {scoring.file}"
            yield Note("unscored", f"{lacking}, left out: {_short(scoring.unscored)}")
    if found.unranked:
        shown = _short([f"{system} ({count})" for system, count in found.unranked])
        lacking = f"{many(len(found.unranked), 'system')} without a ranking for some queries"
        yield Note("queries_missing", f"{lacking}, which count 0: {shown}")
    if found.found.systems == 2:
        yield Note("two_systems", "two systems: every coefficient is 1 or -1, whatever the scores")


def _short(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
