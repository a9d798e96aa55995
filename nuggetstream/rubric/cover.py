"""Cover@k: how many of a query's items does the top of a ranking answer?

Source: Farzi and Dietz, 2024 (RUBRIC-Cover); Sander and Dietz, "EXAM", DESIRES 2021 (n-EXAM).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.rubric.grading import by_query, covered, first_ranks, items_of


class NothingToCover(ValueError):
    """There is no query with a graded item: a cover would divide by zero."""


@dataclass(frozen=True, slots=True)
class QueryCover:
    """One run on one query.

    Attributes:
        cover: share of the graded items, in [0, 1].
        n_exam: share of the items that any passage of the query answers; None when none does.
    """

    cover: float
    n_exam: float | None


@dataclass(frozen=True, slots=True)
class CoverScore:
    """One run over all queries; every share in [0, 1], higher is better.

    Attributes:
        cover: mean over `queries` queries.
        cover_error: standard error of that mean; None with fewer than two queries.
        n_exam: mean over the `answerable` queries; None without one.
        n_exam_error: standard error of that mean; None with fewer than two.
        queries: with at least one graded item.
        answerable: those of them with an item that any passage at all answers.
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
    """Cover of one query by the passages at the top of one ranking.

    cover = |items answered in the top| / |items graded|;
    n-EXAM = |items answered in the top| / |items answered by any passage|.

    Args:
        all_passages: every graded passage of the query.
        top: those of them in the top of the ranking; none covers nothing.
        minimum: grade from which an item counts as answered.

    Raises:
        NothingToCover: not a single item was graded for this query.

    >>> good, weak = GradedPassage("q", "1", {"x": 4, "y": 0}), GradedPassage("q", "2", {"x": 0, "z": 3})
    >>> query_cover([good, weak], [good], 3)
    QueryCover(cover=0.3333333333333333, n_exam=0.5)
    """
    items = items_of(all_passages)
    if not items:
        raise NothingToCover("no item was graded for this query")
    answered, reachable = len(covered(top, minimum)), len(covered(all_passages, minimum))
    return QueryCover(answered / len(items), answered / reachable if reachable else None)


def cover_at(passages: Sequence[GradedPassage], k: int, minimum: int) -> dict[str, CoverScore]:
    """Cover@k of every run that ranked a passage.

    A run's ranks start at the smallest it recorded, 0 or 1, so that every run contributes k passages. A
    query for which it returned nothing counts as nothing covered. Queries without a single graded item
    are left out for every run.

    Args:
        passages: graded passages of all queries, with the ranks the runs gave them.
        k: depth of the top, at least 1.
        minimum: grade from which an item counts as answered, 1..5.

    Raises:
        ValueError: k below 1, or a passage twice.
        NothingToCover: no item was graded at all.
    """
    if k < 1:
        raise ValueError(f"the top {k} of a ranking holds nothing")
    queries = _gradable(passages)
    starts = first_ranks(passages)
    found = {}
    for run, start in starts.items():
        tops = [[p for p in members if _within(p, run, start, k)] for members in queries]
        found[run] = _summary(
            [query_cover(members, top, minimum) for members, top in zip(queries, tops, strict=True)]
        )
    return found


def cover_overall(passages: Sequence[GradedPassage], minimum: int) -> CoverScore:
    """The cover of all passages together: the most any ranking of them could reach.

    Raises:
        NothingToCover: no item was graded at all.
    """
    return _summary([query_cover(members, members, minimum) for members in _gradable(passages)])


def _gradable(passages: Sequence[GradedPassage]) -> list[list[GradedPassage]]:
    queries = [members for members in by_query(passages).values() if items_of(members)]
    if not queries:
        raise NothingToCover("no item was graded for any query")
    return queries


def _within(passage: GradedPassage, run: str, start: int, k: int) -> bool:
    return run in passage.ranks and passage.ranks[run] - start < k


def _summary(covers: Sequence[QueryCover]) -> CoverScore:
    shares = [one.cover for one in covers]
    normalised = [one.n_exam for one in covers if one.n_exam is not None]
    return CoverScore(
        cover=float(np.mean(shares)),
        cover_error=standard_error(shares),
        n_exam=float(np.mean(normalised)) if normalised else None,
        n_exam_error=standard_error(normalised),
        queries=len(shares),
        answerable=len(normalised),
    )


def standard_error(values: Sequence[float]) -> float | None:
    """Standard error of a mean: s / √n with s² = Σ (x - mean)² / (n - 1).

    Args:
        values: n numbers.

    Returns:
        At least 0; None with fewer than two values, whose spread is not known.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
