"""Two systems compared query by query: Cover@k, n-EXAM and α-nDCG with paired tests."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.rubric.cover import CoverMeasure, QueryCover, Unanswerable
from nuggetstream.statistics.paired import PairedTest, paired_t, wilcoxon

_DIGITS = 12  # to which two differences have to agree to be tied


@dataclass(frozen=True, slots=True)
class MeasureTest:
    """One measure of two systems over the queries for which both have a value.

    Attributes:
        measure: Which measure.
        queries: Number of these queries.
        first: Mean of the first system over them; None without a query.
        second: Mean of the second system over them; None without a query.
        t: Student's paired t-test; None with fewer than two queries, or where all differences are the same.
        wilcoxon: Wilcoxon's signed-rank test; None where no query differs.
    """

    measure: CoverMeasure
    queries: int
    first: float | None
    second: float | None
    t: PairedTest | None
    wilcoxon: PairedTest | None


@dataclass(frozen=True, slots=True, repr=False)
class CoverPair(Drawn):
    """Two systems compared query by query; every difference is the first minus the second.

    Attributes:
        systems: The first and the second system.
        k: Depth of the top.
        tests: One per measure.
        empty: Queries without a passage in the top, of the first and of the second system; they count 0.
    """

    systems: tuple[str, str]
    k: int
    tests: tuple[MeasureTest, ...]
    empty: tuple[int, int]

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per measure."""
        first, second = self.systems
        columns = (
            tables.text("measure"),
            tables.count("queries"),
            tables.number("first", first, digits=3),
            tables.number("second", second, digits=3),
            tables.number("difference", digits=3),
            tables.interval("low", "high", "95% interval", digits=3),
            tables.number("t", digits=2),
            tables.p_value("p_t", "p of t"),
            tables.number("w", "Wilcoxon's W", digits=1),
            tables.p_value("p_w", "p of W"),
            tables.count("equal", "queries equal"),
        )
        rows = tuple(_row(test, self.k) for test in self.tests)
        basis = f"difference: {first} minus {second}, over the queries for which both have a value"
        adjusted = "interval: of the t-test; two-sided p-values, not adjusted for the number of measures"
        return Table(
            f"{first} and {second}", columns, rows, (basis, adjusted, *(note.text for note in self.notes))
        )


def _row(test: MeasureTest, k: int) -> tuple[Any, ...]:
    t, ranks = test.t, test.wilcoxon
    return (
        title_of(test.measure, k),
        test.queries,
        test.first,
        test.second,
        None if test.first is None or test.second is None else test.first - test.second,
        *((None, None, None) if t is None else (t.interval, t.statistic, t.p_value)),
        *((None, None, test.queries) if ranks is None else (ranks.statistic, ranks.p_value, ranks.zeros)),
    )


def title_of(measure: CoverMeasure, k: int) -> str:
    """The name of a measure in print.

    >>> title_of(CoverMeasure.COVER, 20), title_of(CoverMeasure.N_EXAM, 20)
    ('Cover@20', 'n-EXAM')
    """
    match measure:
        case CoverMeasure.COVER:
            return f"Cover@{k}"
        case CoverMeasure.N_EXAM:
            return "n-EXAM"
        case CoverMeasure.ALPHA_NDCG:
            return f"α-nDCG@{k}"


def compare_covers(
    systems: tuple[str, str],
    covers: tuple[Mapping[str, QueryCover], Mapping[str, QueryCover]],
    k: int,
    unanswerable: Unanswerable,
    measures: Sequence[CoverMeasure],
) -> CoverPair:
    """Compare two systems query by query.

    Args:
        systems: The first and the second system.
        covers: Query -> cover of each, for the same queries; where it ranked nothing, the cover is 0.
        k: Depth of the top.
        unanswerable: How n-EXAM and α-nDCG count a query in which no passage answers an item.
        measures: Which measures.
    """
    ours, theirs = covers
    tests = []
    for measure in measures:
        values = [
            (ours[query].value(measure, unanswerable), theirs[query].value(measure, unanswerable))
            for query in ours
        ]
        both = [(x, y) for x, y in values if x is not None and y is not None]
        # Differences of exact shares: as floats, 0.3 - 0.2 and 0.2 - 0.1 would not be tied.
        differences = [round(float(x - y), _DIGITS) for x, y in both]
        nothing = [0.0] * len(both)
        tests.append(
            MeasureTest(
                measure=measure,
                queries=len(both),
                first=float(statistics.mean(x for x, _ in both)) if both else None,
                second=float(statistics.mean(y for _, y in both)) if both else None,
                t=paired_t(differences, nothing),
                wilcoxon=wilcoxon(differences, nothing),
            )
        )
    empty = [sum(not cover.passages for cover in queries.values()) for queries in covers]
    return CoverPair(systems, k, tuple(tests), (empty[0], empty[1]))


def _notes(pair: CoverPair) -> Iterator[Note]:
    for system, empty in zip(pair.systems, pair.empty, strict=True):
        if empty:
            queries = many(empty, "query", "queries")
            yield Note(
                "nothing_in_top", f"{queries} without a passage in the top {pair.k} of {system}: cover 0"
            )
    for test in pair.tests:
        if test.t is None:
            name = title_of(test.measure, pair.k)
            why = "fewer than two queries" if test.queries < 2 else "the same difference for every query"
            yield Note("no_t", f"no t-test of {name}: {why}")
