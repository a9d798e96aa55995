"""Cover@k: how many of a query's items does the top of a ranking answer?

Source: Farzi and Dietz, 2024 (RUBRIC-Cover); Sander and Dietz, "EXAM", DESIRES 2021 (n-EXAM).
"""

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.rubric.alpha_ndcg import alpha_dcg, ideal_alpha_dcg
from nuggetstream.rubric.grading import by_query, covered, first_ranks, items_of

Number = TypeVar("Number", float, Fraction)


class NothingToCover(ValueError):
    """There is no query with a graded item: a cover would divide by zero."""


class Unanswerable(StrEnum):
    """How n-EXAM counts a query in which no passage at all answers an item: its share would be 0 / 0."""

    LEFT_OUT = "left-out"
    ZERO = "zero"  # as the original autograding workbench counts it


class CoverMeasure(StrEnum):
    """A share of a query's items."""

    COVER = "cover"
    N_EXAM = "n_exam"
    ALPHA_NDCG = "alpha_ndcg"


@dataclass(frozen=True, slots=True)
class QueryCover:
    """How much one ranking covers of one query.

    Attributes:
        answered_items: the items answered in the top of the ranking.
        answerable: items answered by any passage of the query.
        items: items graded on any passage of the query, at least 1.
        passages: passages in the top; without any, nothing is covered.
        alpha_ndcg: α-nDCG of the top, higher is better; None where it is not computed, or nothing answerable.
    """

    answered_items: frozenset[str]
    answerable: int
    items: int
    passages: int
    alpha_ndcg: float | None = None

    @property
    def answered(self) -> int:
        """Number of items answered in the top of the ranking."""
        return len(self.answered_items)

    @property
    def cover(self) -> float:
        """Share of the graded items that the top answers, in [0, 1]."""
        return self.answered / self.items

    @property
    def n_exam(self) -> float | None:
        """Share of the answerable items that the top answers, in [0, 1]; None without such an item."""
        return self.answered / self.answerable if self.answerable else None

    def value(self, measure: CoverMeasure, unanswerable: Unanswerable) -> Fraction | None:
        """The exact value of a measure that means and tests count; None where they leave the query out."""
        if measure is CoverMeasure.COVER:
            return Fraction(self.answered, self.items)
        if not self.answerable:
            return Fraction(0) if unanswerable is Unanswerable.ZERO else None
        if measure is CoverMeasure.N_EXAM:
            return Fraction(self.answered, self.answerable)
        return None if self.alpha_ndcg is None else Fraction(self.alpha_ndcg)


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
        alpha_ndcg: mean α-nDCG over the same queries as n-EXAM; None where it is not computed.
        alpha_ndcg_error: standard error of that mean; None with fewer than two queries.
    """

    cover: float
    cover_error: float | None
    n_exam: float | None
    n_exam_error: float | None
    queries: int
    answerable: int
    alpha_ndcg: float | None = None
    alpha_ndcg_error: float | None = None


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
    >>> shares.answered, shares.answerable, shares.items, shares.n_exam
    (1, 2, 3, 0.5)
    """
    items = items_of(all_passages)
    if not items:
        raise NothingToCover("no item was graded for this query")
    return QueryCover(
        frozenset(covered(top, minimum)), len(covered(all_passages, minimum)), len(items), len(top)
    )


def covers_of(
    passages: Sequence[GradedPassage], k: int, minimum: int, alpha: float | None = None
) -> dict[str, dict[str, QueryCover]]:
    """What the top k of every run that ranked a passage covers of each query.

    The ranks of a run start at the smallest it recorded, 0 or 1, so that every run contributes k passages. A
    query for which a run returned nothing counts as nothing covered. Queries without a single graded item
    are left out for every run.

    Args:
        passages: graded passages of all queries, with the ranks the runs gave them.
        k: depth of the top, at least 1.
        minimum: lowest grade at which an item counts as answered, 1..5.
        alpha: α of α-nDCG, in [0, 1], None for none. A rank without a recorded passage gains nothing.

    Returns:
        Run -> query -> its cover.

    Raises:
        ValueError: k is below 1, alpha is not in [0, 1], or a passage is given twice.
        NothingToCover: no item was graded at all.
    """
    if k < 1:
        raise ValueError(f"the top {k} of a ranking holds nothing")
    if alpha is not None and not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}, which is not in [0, 1]")
    queries = gradable(passages)
    answerable = {query: len(covered(members, minimum)) for query, members in queries.items()}
    items = {query: len(items_of(members)) for query, members in queries.items()}
    ideals = {} if alpha is None else {q: _ideal(rows, k, minimum, alpha) for q, rows in queries.items()}
    covers: dict[str, dict[str, QueryCover]] = {}
    for run, start in first_ranks(passages).items():
        covers[run] = {}
        for query, members in queries.items():
            top = _top(members, run, start, k)
            ideal, gain = ideals.get(query), None
            if alpha is not None and ideal:
                places = sorted((p.ranks[run] - start + 1, p.passage, covered([p], minimum)) for p in top)
                gain = alpha_dcg(((rank, covered_items) for rank, _, covered_items in places), alpha) / ideal
            covered_items = frozenset(covered(top, minimum))
            covers[run][query] = QueryCover(covered_items, answerable[query], items[query], len(top), gain)
    return covers


def cover_at(
    passages: Sequence[GradedPassage],
    k: int,
    minimum: int,
    unanswerable: Unanswerable = Unanswerable.LEFT_OUT,
) -> dict[str, CoverScore]:
    """Cover@k and n-EXAM of every run that ranked a passage: the means of `covers_of` over the queries.

    Args:
        passages: as for `covers_of`, which has the errors, too.
        k: depth of the top, at least 1.
        minimum: lowest grade at which an item counts as answered, 1..5.
        unanswerable: how n-EXAM counts a query in which no passage answers an item.

    Returns:
        Run -> its means over the queries.
    """
    covers = covers_of(passages, k, minimum)
    return {run: mean_cover(queries.values(), unanswerable) for run, queries in covers.items()}


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
    queries = [query_cover(members, members, minimum) for members in gradable(passages).values()]
    return mean_cover(queries, Unanswerable.LEFT_OUT)


def mean_cover(
    queries: Collection[QueryCover], unanswerable: Unanswerable, *, alpha: bool = False
) -> CoverScore:
    """The means of a run over queries, at least one, with standard errors.

    Args:
        queries: what the run covers of each query.
        unanswerable: how n-EXAM and α-nDCG count a query in which no passage answers an item.
        alpha: whether α-nDCG was computed.
    """
    covers, n_exams, alphas = (
        [value for query in queries if (value := query.value(measure, unanswerable)) is not None]
        for measure in CoverMeasure
    )
    return CoverScore(
        cover=float(statistics.mean(covers)),
        cover_error=standard_error(covers),
        n_exam=float(statistics.mean(n_exams)) if n_exams else None,
        n_exam_error=standard_error(n_exams),
        queries=len(queries),
        answerable=sum(query.answerable > 0 for query in queries),
        alpha_ndcg=float(statistics.mean(alphas)) if alpha and alphas else None,
        alpha_ndcg_error=standard_error(alphas) if alpha else None,
    )


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


def gradable(passages: Sequence[GradedPassage]) -> dict[str, list[GradedPassage]]:
    """Query -> its passages, of the queries with at least one graded item.

    Raises:
        NothingToCover: no item was graded at all.
        ValueError: a passage is given twice for one query.
    """
    queries = {query: members for query, members in by_query(passages).items() if items_of(members)}
    if not queries:
        raise NothingToCover("no item was graded for any query")
    return queries


def _top(passages: Sequence[GradedPassage], run: str, start: int, k: int) -> list[GradedPassage]:
    return [passage for passage in passages if run in passage.ranks and passage.ranks[run] - start < k]


def _ideal(passages: Sequence[GradedPassage], k: int, minimum: int, alpha: float) -> float:
    by_name = sorted(passages, key=lambda passage: passage.passage)
    return ideal_alpha_dcg([covered([passage], minimum) for passage in by_name], k, alpha)
