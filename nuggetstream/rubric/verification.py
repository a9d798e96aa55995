"""Where grades and assessors contradict each other, and listings for a person to check the grader.

Source: Dietz, "A Workbench for Autograding Retrieve/Generate Systems", SIGIR 2024.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.rubric.grading import by_query, items_of

HIGH_GRADE = 4
RELEVANT = 2
NOT_RELEVANT = 0


@dataclass(frozen=True, slots=True)
class SpuriousItem:
    """An item that passages judged not relevant answer well.

    Attributes:
        item: Id of the item.
        passages: Number of passages judged not relevant that answer it well.
    """

    item: str
    passages: int


@dataclass(frozen=True, slots=True)
class Listed:
    """One graded answer, for a person to verify.

    Attributes:
        query: Id of the query.
        item: Id of the question or nugget.
        grade: Grade of the passage on the item.
        passage: Id of the passage.
        reply: What the grader wrote; None when it was not kept.
        text: Text of the passage; None when the record holds none.
    """

    query: str
    item: str
    grade: int
    passage: str
    reply: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Grid:
    """Grades of one query as a table.

    Attributes:
        passages: Names of the rows.
        items: Names of the columns.
        grades: One row per passage; None where the item was not graded on the passage.
    """

    passages: tuple[str, ...]
    items: tuple[str, ...]
    grades: tuple[tuple[int | None, ...], ...]


def spurious_items(
    passages: Sequence[GradedPassage],
    minimum: int = HIGH_GRADE,
    not_relevant: int = NOT_RELEVANT,
    limit: int | None = None,
) -> dict[str, list[SpuriousItem]]:
    """Items most often answered by passages that the assessor called not relevant.

    Such a question asks for the obvious, or the grader is too kind. Passages without a judgment do not count.

    Args:
        passages: Graded and judged passages.
        minimum: Lowest grade at which an answer counts as good.
        not_relevant: Highest judgment that still means not relevant.
        limit: Most items per query; None for all.

    Returns:
        Query -> items, most frequent first; equally frequent items in the order of first appearance.
    """
    spurious = {}
    for query, members in by_query(passages).items():
        counts = Counter(
            item
            for passage in members
            if passage.judgment is not None and passage.judgment <= not_relevant
            for item, grade in passage.grades.items()
            if grade >= minimum
        )
        spurious[query] = [SpuriousItem(item, count) for item, count in counts.most_common(limit)]
    return spurious


def uncovered_passages(
    passages: Sequence[GradedPassage], minimum: int = HIGH_GRADE, relevant: int = RELEVANT
) -> list[GradedPassage]:
    """Passages judged relevant that answer no item with `minimum` or better: the rubric misses something.

    Passages without a judgment or without a grade are left out.

    Args:
        passages: Graded and judged passages.
        minimum: Lowest grade at which an answer counts as good.
        relevant: Lowest judgment that means relevant.
    """
    return [
        p
        for p in passages
        if p.judgment is not None and p.judgment >= relevant and p.best is not None and p.best < minimum
    ]


def grade_grid(passages: Sequence[GradedPassage]) -> dict[str, Grid]:
    """Query -> table of the grades of its passages on its items."""
    grids = {}
    for query, members in by_query(passages).items():
        items = items_of(members)
        rows = tuple(tuple(passage.grades.get(item) for item in items) for passage in members)
        grids[query] = Grid(tuple(passage.passage for passage in members), items, rows)
    return grids


def verification_listing(passages: Sequence[GradedPassage], minimum: int = 1) -> list[Listed]:
    """Every answer graded `minimum` or better, item by item, best first, with what the grader wrote."""
    listed: list[Listed] = []
    for query, members in by_query(passages).items():
        for item in items_of(members):
            graded = [p for p in members if p.grades.get(item, -1) >= minimum]
            graded.sort(key=lambda passage: -passage.grades[item])
            listed += [
                Listed(
                    query=query,
                    item=item,
                    grade=p.grades[item],
                    passage=p.passage,
                    reply=p.replies.get(item),
                    text=p.text,
                )
                for p in graded
            ]
    return listed


def grade_counts(passages: Sequence[GradedPassage]) -> Mapping[int, int]:
    """How often each grade was given, lowest first."""
    counts = Counter(grade for passage in passages for grade in passage.grades.values())
    return dict(sorted(counts.items()))
