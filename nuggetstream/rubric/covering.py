"""Cover@k of every system of a graded file."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many, number
from nuggetstream.files.tables import Table
from nuggetstream.rubric.cover import (
    CoverMeasure,
    CoverScore,
    QueryCover,
    Unanswerable,
    cover_overall,
    covers_of,
    gradable,
    mean_cover,
)
from nuggetstream.rubric.cover_pair import CoverPair, compare_covers, title_of
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.grading import UnknownSystem, first_ranks, items_of
from nuggetstream.rubric.influence import Influence, leave_each_out

_NAMED = 4


@dataclass(frozen=True, slots=True)
class SystemCover:
    """The cover of one system.

    Attributes:
        system: Name of the system.
        score: Its cover and n-EXAM with standard errors.
        ranked: Queries with a graded item for which it ranked a passage; the others count as nothing covered.
        queries: Query -> what it covers of this query.
    """

    system: str
    score: CoverScore
    ranked: int
    queries: Mapping[str, QueryCover]


@dataclass(frozen=True, slots=True, repr=False)
class Coverage(Drawn):
    """The cover of all systems, the best first.

    Attributes:
        graded: The passages that were counted.
        k: Depth of the top.
        minimum: Lowest grade at which an item counts as answered.
        unanswerable: How n-EXAM and α-nDCG count a query in which no passage answers an item.
        overall: All passages together: the most that any ranking of them could reach.
        systems: Best first; systems with equal cover in alphabetical order.
        left_out: Queries without a single graded item.
        starts: System -> the first rank it recorded, where that is neither 0 nor 1.
        shared_ranks: System -> queries in which it gave several passages the same rank.
        alpha: α of α-nDCG; None where it is not computed.
    """

    graded: Graded
    k: int
    minimum: int
    unanswerable: Unanswerable
    overall: CoverScore
    systems: tuple[SystemCover, ...]
    left_out: int
    starts: Mapping[str, int]
    shared_ranks: Mapping[str, int] = field(default_factory=dict)
    alpha: float | None = None

    @property
    def measures(self) -> tuple[CoverMeasure, ...]:
        """The measures that are computed."""
        return tuple(m for m in CoverMeasure if m is not CoverMeasure.ALPHA_NDCG or self.alpha is not None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per system, the best first."""
        columns = (
            tables.text("system"),
            *(
                tables.number(name, title, digits=3)
                for measure in self.measures
                for name, title in ((measure.value, title_of(measure, self.k)), (f"{measure}_error", "±"))
            ),
            tables.count("queries_ranked"),
        )
        rows = tuple(
            (system.system, *self.shares(system.score).values(), system.ranked) for system in self.systems
        )
        most = self.shares(self.overall)
        together = ", ".join(
            f"{title_of(each, self.k)} {number(most[each])} ± {number(most[f'{each}_error'])}"
            for each in self.measures
        )
        alpha = "" if self.alpha is None else f"; α = {self.alpha:g}"
        notes = (
            self.graded.basis.line,
            f"over {many(self.overall.queries, 'query', 'queries')}; ±: standard error{alpha}",
            f"all passages together: {together}",
            *(note.text for note in self.notes),
        )
        return Table(f"Cover@{self.k}, answered from grade {self.minimum} on", columns, rows, notes)

    def shares(self, score: CoverScore) -> dict[str, float | None]:
        """Every mean that is computed and its standard error, by the name of its column."""
        return {
            name: getattr(score, name) for measure in self.measures for name in (measure, f"{measure}_error")
        }

    def per_query(self) -> Table:
        """One row per system and query: its values, and the counts that they are made of.

        A query for which a system ranked nothing has the cover 0, as in its mean; n-EXAM and α-nDCG are
        missing where the mean leaves the query out.
        """
        columns = (
            tables.text("system"),
            tables.text("query"),
            *(tables.number(each.value, title_of(each, self.k), digits=3) for each in self.measures),
            tables.count("answered"),
            tables.count("answerable"),
            tables.count("items"),
            tables.count("passages", f"passages in top {self.k}"),
        )
        rows = []
        for system in self.systems:
            for query, each in system.queries.items():
                values = (each.value(measure, self.unanswerable) for measure in self.measures)
                numbers = (None if value is None else float(value) for value in values)
                counts = (each.answered, each.answerable, each.items, each.passages)
                rows.append((system.system, query, *numbers, *counts))
        systems, queries = many(len(self.systems), "system"), many(self.overall.queries, "query", "queries")
        notes = (f"{systems}, {queries}", *(note.text for note in self.notes))
        return Table(f"Each query, answered from grade {self.minimum} on", columns, tuple(rows), notes)

    def pair(self, first: str, second: str) -> CoverPair:
        """Two systems compared query by query, with paired tests.

        Raises:
            UnknownSystem: One of them ranked no passage.
        """
        covers = {system.system: system.queries for system in self.systems}
        for system in (first, second):
            if system not in covers:
                names = ", ".join(sorted(covers)) or "none"
                raise UnknownSystem(f"{system!r} is no system that ranked a passage; there is {names}")
        both = (covers[first], covers[second])
        return compare_covers((first, second), both, self.k, self.unanswerable, self.measures)

    def without_each(self) -> Influence:
        """How the order of systems and their mean covers change when one item is left out, for each item."""
        items = {query: items_of(members) for query, members in gradable(self.graded.passages).items()}
        return leave_each_out(items, {system.system: system.queries for system in self.systems}, self.k)


def cover(
    graded: Graded,
    k: int = 20,
    minimum: int = 3,
    unanswerable: Unanswerable = Unanswerable.LEFT_OUT,
    alpha: float | None = None,
) -> Coverage:
    """Cover@k and n-EXAM of every system, and α-nDCG@k if wanted, with standard errors.

    Args:
        graded: Passages of all queries.
        k: Depth of the top, at least 1.
        minimum: Lowest grade at which an item counts as answered, 1..5.
        unanswerable: How n-EXAM and α-nDCG count a query in which no passage answers an item.
        alpha: α of α-nDCG, in [0, 1]; None does not compute it.

    Raises:
        NothingToCover: No item was graded at all.
    """
    passages = graded.passages
    counted = {passage.query for passage in passages if passage.grades}
    ranked: dict[str, set[str]] = defaultdict(set)
    for passage in passages:
        for system in passage.ranks if passage.query in counted else ():
            ranked[system].add(passage.query)
    covers = covers_of(passages, k, minimum, alpha)
    scores = {
        system: mean_cover(queries.values(), unanswerable, alpha=alpha is not None)
        for system, queries in covers.items()
    }
    order = sorted(scores, key=lambda system: (-scores[system].cover, system))
    return Coverage(
        graded=graded,
        k=k,
        minimum=minimum,
        unanswerable=unanswerable,
        overall=cover_overall(passages, minimum),
        systems=tuple(
            SystemCover(system, scores[system], len(ranked[system]), covers[system]) for system in order
        ),
        left_out=graded.basis.queries - len(counted),
        starts={system: rank for system, rank in first_ranks(passages).items() if rank > 1},
        shared_ranks=_shared_ranks(passages),
        alpha=alpha,
    )


def _shared_ranks(passages: Sequence[GradedPassage]) -> dict[str, int]:
    at = Counter(
        (system, passage.query, rank) for passage in passages for system, rank in passage.ranks.items()
    )
    shared = {(system, query) for (system, query, _), count in at.items() if count > 1}
    return dict(sorted(Counter(system for system, _ in shared).items()))


def _notes(coverage: Coverage) -> Iterator[Note]:
    basis, overall = coverage.graded.basis, coverage.overall
    if not coverage.systems:
        yield Note("no_ranking", "no system ranked a passage: only the cover of all passages is known")
    if basis.ungraded:
        ungraded = many(basis.ungraded, "passage")
        text = f"{ungraded} without a grade; in the top of a system such a passage answers nothing"
        yield Note("ungraded", f"{text}, so its cover may be too low")
    if coverage.left_out:
        left_out = many(coverage.left_out, "query", "queries")
        yield Note("nothing_graded", f"{left_out} without a graded item, left out for every system")
    if unanswered := overall.queries - overall.answerable:
        queries = many(unanswered, "query", "queries")
        named = "n-EXAM" if coverage.alpha is None else "n-EXAM and α-nDCG"
        consequence = (
            f"left out of {named}"
            if coverage.unanswerable is Unanswerable.LEFT_OUT
            else f"0 in the {named} of every system"
        )
        text = f"{queries} in which no passage answers an item with grade {coverage.minimum} or better"
        yield Note("unanswered", f"{text}: {consequence}")
    if not overall.answerable:
        highest = max(passage.best for passage in coverage.graded.passages if passage.best is not None)
        yield Note("nothing_answered", f"every cover is 0: the highest grade of all passages is {highest}")
    if overall.queries == 1:
        yield Note("one_query", "a single query has no standard error")
    if incomplete := sum(system.ranked < overall.queries for system in coverage.systems):
        systems = many(incomplete, "system")
        yield Note("queries_missing", f"{systems} without a passage for some queries, which count 0")
    if coverage.starts:
        systems = many(len(coverage.starts), "system")
        named = ", ".join(f"{name} ({rank})" for name, rank in list(coverage.starts.items())[:_NAMED])
        text = f"{systems} whose first graded passage is not at rank 0 or 1"
        yield Note("starts_late", f"{text}: the top {coverage.k} is counted from there: {named}")
    if coverage.shared_ranks:
        systems = many(len(coverage.shared_ranks), "system")
        named = ", ".join(f"{name} ({count})" for name, count in list(coverage.shared_ranks.items())[:_NAMED])
        text = f"{systems} with several passages at one rank of a query"
        yield Note("shared_ranks", f"{text}: its top {coverage.k} may have more passages than that: {named}")
