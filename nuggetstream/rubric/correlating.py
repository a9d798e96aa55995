"""Whether two ways of scoring put systems in the same order, with what each rests on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many, number, shortened
from nuggetstream.files.tables import Table
from nuggetstream.rubric.grading import UnknownSystem
from nuggetstream.rubric.leaderboard_correlation import (
    LeaderboardCorrelation,
    NoCommonOrder,
    correlate,
    official_order,
)
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.scoring import Labels, Scoring, UnusedOption, score_by_labels

_NAMED = 6
USUAL_MEASURE = "nDCG@10"


class NothingToRank(ValueError):
    """Labels without rankings, or rankings without labels: no system can be scored."""


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries with labels, when both sides are labels.

    Attributes:
        shared: Number of queries with labels on both sides.
        only_first: Queries with labels on the first side only.
        only_official: Queries with labels on the official side only.
    """

    shared: int
    only_first: tuple[str, ...]
    only_official: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Drawn):
    """Two scorings of the same systems and how far their orders agree.

    Attributes:
        first: Scores of the first side.
        official: Scores of the official side.
        correlation: Coefficients over the systems that both sides score.
        ties_broken: Whether the official side has ranks without ties.
        only_first: Systems that only the first side scores.
        only_official: Systems that only the official side scores.
        queries: Which queries both sides share; None unless both are labels.
        unranked: System -> queries with labels for which it ranked nothing; they count 0.
    """

    first: Scoring
    official: Scoring
    correlation: LeaderboardCorrelation
    ties_broken: bool
    only_first: tuple[str, ...]
    only_official: tuple[str, ...]
    queries: Queries | None
    unranked: Mapping[str, int]

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """Both scores of every common system, in the official order."""
        columns = (
            tables.text("system"),
            tables.number("official", digits=4),
            tables.number("first", digits=4),
        )
        common = [system for system in self.official.scores if system in self.first.scores]
        rows = tuple(
            (system, self.official.shown(system), self.first.shown(system))
            for system in sorted(common, key=lambda name: (-self.official.scores[name], name))
        )
        ties = "no ties, as trec_eval breaks them" if self.ties_broken else "tied ranks averaged"
        notes = [
            f"Spearman's rho {number(self.correlation.spearman)}, Kendall's tau-b "
            f"{number(self.correlation.kendall)} over {many(self.correlation.systems, 'system')}",
            f"official: {self.official.what} of {self.official.source}; {ties}",
            f"first: {self.first.what} of {self.first.source}",
        ]
        if self.queries:
            notes.append(f"over {many(self.queries.shared, 'query', 'queries')} with labels on both sides")
        return Table("Two scorings", columns, rows, (*notes, *(note.text for note in self.notes)))


def compare(
    first: Scoring | Labels,
    official: Scoring | Labels,
    rankings: Mapping[str, Ranking] | None = None,
    *,
    measure: str | None = None,
    left_out: Sequence[str] = (),
    break_ties: bool = False,
) -> Comparison:
    """Correlate the orders of systems by two scorings.

    Args:
        first: Scores of systems, or labels that give `rankings` a score.
        official: The same for the official side.
        rankings: System -> query -> documents, best first; needed by labels and only by them.
        measure: Measure of rankings by its name in ir_measures; None for nDCG@10.
        left_out: Systems that take no part on either side.
        break_ties: Give the official side ranks without ties, as trec_eval prints them.

    Returns:
        Spearman's rho and Kendall's tau-b in [-1, 1], 1 for the same order.

    Raises:
        NothingToRank: There are labels without rankings, rankings without labels, or two sets of labels
            without a common query.
        NoCommonOrder: Fewer than two systems are scored by both, or one side scores all alike.
        NoMeasure: The measure cannot be computed from labels and rankings.
        UnknownSystem: A system in `left_out` is on neither side.
        UnusedOption: A measure is named and neither side is labels.
    """
    rankings = rankings or {}
    labels = [side for side in (first, official) if isinstance(side, Labels)]
    _refuse_incomplete(labels, rankings, measure)
    queries = None
    if isinstance(first, Labels) and isinstance(official, Labels):
        queries = _queries(first, official)
        shared = first.queries & official.queries
        first, official = first.of(shared), official.of(shared)
    sides = (first, official)
    scorings = [
        score_by_labels(side, rankings, measure or USUAL_MEASURE) if isinstance(side, Labels) else side
        for side in sides
    ]
    our_scoring, official_scoring = _without(scorings, left_out)
    return Comparison(
        first=our_scoring,
        official=official_scoring,
        correlation=_correlation(our_scoring, official_scoring, break_ties=break_ties),
        ties_broken=break_ties,
        only_first=tuple(sorted(our_scoring.scores.keys() - official_scoring.scores.keys())),
        only_official=tuple(sorted(official_scoring.scores.keys() - our_scoring.scores.keys())),
        queries=queries,
        unranked=_unranked(sides, {s: ranked for s, ranked in rankings.items() if s not in left_out}),
    )


def _unranked(sides: Sequence[Scoring | Labels], rankings: Mapping[str, Ranking]) -> dict[str, int]:
    """System -> number of queries with labels for which it ranked nothing, where there are any."""
    labelled = {query for side in sides if isinstance(side, Labels) for query in side.queries}
    missing = {system: len(labelled - ranking.keys()) for system, ranking in rankings.items()}
    return {system: count for system, count in missing.items() if count}


def _refuse_incomplete(
    labels: Sequence[Labels], rankings: Mapping[str, Ranking], measure: str | None
) -> None:
    if labels and not rankings:
        raise NothingToRank("relevance labels score rankings: name them with --runs or --graded")
    if rankings and not labels:
        raise NothingToRank("two leaderboards are compared as they are: --runs and --graded are for labels")
    if measure is not None and not labels:
        raise UnusedOption("--measure does nothing without relevance labels: leaderboards have their scores")


def _without(scorings: Sequence[Scoring], left_out: Sequence[str]) -> list[Scoring]:
    systems = {system for scoring in scorings for system in scoring.systems}
    if unknown := sorted(set(left_out) - systems):
        raise UnknownSystem(f"{unknown[0]!r} cannot be left out; there is {', '.join(sorted(systems))}")
    return [scoring.without(left_out) for scoring in scorings]


def _correlation(first: Scoring, official: Scoring, *, break_ties: bool) -> LeaderboardCorrelation:
    # Ranks are those of the whole official leaderboard, with the systems that the first side lacks.
    ranked = official_order(official.scores) if break_ties else official.scores
    try:
        return correlate(ranked, first.scores)
    except NoCommonOrder as error:
        common = len(first.scores.keys() & official.scores.keys())
        reason = "fewer than two" if common < 2 else "one side scores them all alike"
        raise NoCommonOrder(f"{many(common, 'system')} in both files, {reason}: there is no order") from error


def _queries(first: Labels, official: Labels) -> Queries:
    if not first.queries & official.queries:
        raise NothingToRank("no query is labelled in both files")
    return Queries(
        shared=len(first.queries & official.queries),
        only_first=tuple(sorted(first.queries - official.queries)),
        only_official=tuple(sorted(official.queries - first.queries)),
    )


def _notes(comparison: Comparison) -> Iterator[Note]:
    queries = comparison.queries
    for side, only in (
        ("the first file", queries.only_first if queries else ()),
        ("the official file", queries.only_official if queries else ()),
    ):
        if only:
            text = (
                f"{many(len(only), 'query', 'queries')} only in {side}, left out: {shortened(only, _NAMED)}"
            )
            yield Note("query_in_one_file", text)
    for side, systems in (("first", comparison.only_first), ("official", comparison.only_official)):
        if systems:
            text = f"{many(len(systems), 'system')} only the {side} side scores, left out"
            yield Note("system_in_one_file", f"{text}: {shortened(systems, _NAMED)}")
    for scoring in (comparison.first, comparison.official):
        yield from (Note("scores_read", remark) for remark in scoring.remarks)
        if scoring.unscored:
            text = f"{many(len(scoring.unscored), 'system')} without {scoring.what} in {scoring.source}"
            yield Note("unscored", f"{text}, left out: {shortened(scoring.unscored, _NAMED)}")
    if comparison.unranked:
        named = shortened([f"{system} ({count})" for system, count in comparison.unranked.items()], _NAMED)
        text = f"{many(len(comparison.unranked), 'system')} without a ranking for some queries"
        yield Note("queries_missing", f"{text}, which count 0: {named}")
    if comparison.correlation.systems == 2:
        yield Note("two_systems", "two systems: every coefficient is 1 or -1, whatever the scores")
