"""Cover@k: how many of a query's items does the top of a ranking answer?

Source: Farzi and Dietz, 2024 (RUBRIC-Cover); Sander and Dietz, "EXAM", DESIRES 2021 (n-EXAM).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.rubric.grading import by_query, covered, first_ranks, items_of

Number = TypeVar("Number", float, Fraction)


class NothingToCover(ValueError):
    """There is no query with a graded item: a cover would divide by zero."""


class Unanswerable(StrEnum):
    """How n-EXAM counts a query in which no passage at all answers an item: its share would be 0 / 0."""

    LEFT_OUT = "left-out"
    ZERO = "zero"  # as the original autograding workbench counts it


@dataclass(frozen=True, slots=True)
class QueryCover:
    """How much one ranking covers of one query.

    Attributes:
        answered: items answered in the top of the ranking.
        answerable: items answered by any passage of the query.
        items: items graded on any passage of the query, at least 1.
    """

    answered: int
    answerable: int
    items: int

    @property
    def cover(self) -> float:
        """Share of the graded items that the top answers, in [0, 1]."""
        return self.answered / self.items

    @property
    def n_exam(self) -> float | None:
        """Share of the answerable items that the top answers, in [0, 1]; None without such an item."""
        return self.answered / self.answerable if self.answerable else None


@dataclass(frozen=True, slots=True)
class CoverScore:
    """How much one run covers of all queries; every share lies in [0, 1], higher is better.

    Means are exact: runs whose queries have the same shares in another order have equal means.

    Attributes:
        cover: mean over `queries` queries.
        cover_error: standard error of that mean; None with fewer than two queries.
        n_exam: mean over the `answerable` queries, or over all `queries` where an unanswerable one counts 0;
            None without a query to average.
        n_exam_error: standard error of that mean; None with fewer than two queries.
        queries: number of queries with at least one graded item.
        answerable: number of those in which any passage at all answers an item.
    """

    cover: float
    cover_error: float | None
    n_exam: float | None
    n_exam_error: float | None
    queries: int
    answerable: int


def query_cover(
    all_passages: Sequence[GradedPassage], top: Sequence[GradedPassage], minimum: int
) -> QueryCover:
    """How much the passages at the top of one ranking cover of one query.

    cover = |items answered in the top| / |items graded|;
    n-EXAM = |items answered in the top| / |items answered by any passage|.

    Args:
        all_passages: every graded passage of the query.
        top: those of them in the top of the ranking; an empty top covers nothing.
        minimum: lowest grade at which an item counts as answered, 1..5.

    Raises:
        NothingToCover: no item was graded for this query.

    >>> good, weak = GradedPassage("q", "1", {"x": 4, "y": 0}), GradedPassage("q", "2", {"x": 0, "z": 3})
    >>> shares = query_cover([good, weak], [good], 3)
    >>> shares, shares.n_exam
    (QueryCover(answered=1, answerable=2, items=3), 0.5)
    """
    items = items_of(all_passages)
    if not items:
        raise NothingToCover("no item was graded for this query")
    return QueryCover(len(covered(top, minimum)), len(covered(all_passages, minimum)), len(items))


def cover_at(
    passages: Sequence[GradedPassage],
    k: int,
    minimum: int,
    unanswerable: Unanswerable = Unanswerable.LEFT_OUT,
) -> dict[str, CoverScore]:
    """Cover@k and n-EXAM of every run that ranked a passage.

    The ranks of a run start at the smallest it recorded, 0 or 1, so that every run contributes k passages. A
    query for which a run returned nothing counts as nothing covered. Queries without a single graded item
    are left out for every run.

    Args:
        passages: graded passages of all queries, with the ranks the runs gave them.
        k: depth of the top, at least 1.
        minimum: lowest grade at which an item counts as answered, 1..5.
        unanswerable: how n-EXAM counts a query in which no passage answers an item.

    Returns:
        Run -> its means over the queries.

    Raises:
        ValueError: k is below 1, or a passage is given twice.
        NothingToCover: no item was graded at all.
    """
    if k < 1:
        raise ValueError(f"the top {k} of a ranking holds nothing")
    queries = _gradable(passages)
    answerable = [len(covered(members, minimum)) for members in queries]
    items = [len(items_of(members)) for members in queries]
    scores = {}
    for run, start in first_ranks(passages).items():
        answered = [len(covered(_top(members, run, start, k), minimum)) for members in queries]
        scores[run] = _averaged(list(map(QueryCover, answered, answerable, items)), unanswerable)
    return scores


def cover_overall(passages: Sequence[GradedPassage], minimum: int) -> CoverScore:
    """The cover of all passages together: the most that any ranking of them could reach.

    All passages together answer every answerable item, so their n-EXAM is 1 by definition, over the queries
    that have such an item.

    Args:
        passages: graded passages of all queries.
        minimum: lowest grade at which an item counts as answered, 1..5.

    Raises:
        NothingToCover: no item was graded at all.
    """
    queries = [query_cover(members, members, minimum) for members in _gradable(passages)]
    return _averaged(queries, Unanswerable.LEFT_OUT)


def standard_error(values: Sequence[Number]) -> float | None:
    """Standard error of a mean: s / √n with s² = Σ (x - mean)² / (n - 1).

    Args:
        values: n numbers.

    Returns:
        At least 0; None with fewer than two values, whose spread is not known.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    return float(statistics.stdev(values)) / len(values) ** 0.5 if len(values) > 1 else None


def _gradable(passages: Sequence[GradedPassage]) -> list[list[GradedPassage]]:
    queries = [members for members in by_query(passages).values() if items_of(members)]
    if not queries:
        raise NothingToCover("no item was graded for any query")
    return queries


def _top(passages: Sequence[GradedPassage], run: str, start: int, k: int) -> list[GradedPassage]:
    return [passage for passage in passages if run in passage.ranks and passage.ranks[run] - start < k]


def _averaged(queries: Sequence[QueryCover], unanswerable: Unanswerable) -> CoverScore:
    covers = [Fraction(query.answered, query.items) for query in queries]
    n_exams = [Fraction(query.answered, query.answerable) for query in queries if query.answerable]
    answerable = len(n_exams)
    if unanswerable is Unanswerable.ZERO:
        n_exams += [Fraction(0)] * (len(queries) - answerable)
    return CoverScore(
        cover=float(statistics.mean(covers)),
        cover_error=standard_error(covers),
        n_exam=float(statistics.mean(n_exams)) if n_exams else None,
        n_exam_error=standard_error(n_exams),
        queries=len(queries),
        answerable=answerable,
    )
