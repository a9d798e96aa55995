"""Where rubric and assessors contradict each other, and listings for a person to check the grader.

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
        item: its id.
        passages: how many of them do.
    """

    item: str
    passages: int


@dataclass(frozen=True, slots=True)
class UncoveredPassage:
    """A passage judged relevant that answers no item well."""

    query: str
    passage: str
    judgment: int
    best: int
    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One graded answer, for a person to verify."""

    query: str
    item: str
    grade: int
    passage: str
    reply: str
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Grades of one query as a table.

    Attributes:
        passages: row names.
        items: column names.
        grades: one row per passage; None where the item was not graded on it.
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

    Such a question asks for the obvious, or the grader is too kind. Passages nobody judged say nothing.

    Args:
        passages: graded and judged.
        minimum: grade from which an answer counts as good.
        not_relevant: highest judgment that still means not relevant.
        limit: most items per query; None for all.

    Returns:
        Query -> items, most frequent first, equal ones in the order first met.
    """
    found = {}
    for query, members in by_query(passages).items():
        counts = Counter(
            item
            for passage in members
            if passage.judgment is not None and passage.judgment <= not_relevant
            for item, grade in passage.grades.items()
            if grade >= minimum
        )
        found[query] = [SpuriousItem(item, count) for item, count in counts.most_common(limit)]
    return found


def uncovered_passages(
    passages: Sequence[GradedPassage], minimum: int = HIGH_GRADE, relevant: int = RELEVANT
) -> list[UncoveredPassage]:
    """Passages judged relevant that answer no item with `minimum` or better: the rubric misses something.

    Passages nobody judged or graded are left out.

    Args:
        passages: graded and judged.
        minimum: grade from which an answer counts as good.
        relevant: lowest judgment that means relevant.
    """
    return [
        UncoveredPassage(p.query, p.passage, p.judgment, p.best, p.text)
        for p in passages
        if p.judgment is not None and p.judgment >= relevant and p.best is not None and p.best < minimum
    ]


def grade_grid(passages: Sequence[GradedPassage]) -> dict[str, Grid]:
    """Query -> its passages × items table."""
    found = {}
    for query, members in by_query(passages).items():
        items = items_of(members)
        rows = tuple(tuple(passage.grades.get(item) for item in items) for passage in members)
        found[query] = Grid(tuple(passage.passage for passage in members), items, rows)
    return found


def verification_listing(passages: Sequence[GradedPassage], minimum: int = 1) -> list[Listed]:
    """Every answer graded `minimum` or better, item by item, best first, with the grader's own words."""
    rows: list[Listed] = []
    for query, members in by_query(passages).items():
        for item in items_of(members):
            graded = [p for p in members if p.grades.get(item, -1) >= minimum]
            graded.sort(key=lambda passage: -passage.grades[item])
            rows += [
                Listed(query, item, p.grades[item], p.passage, p.replies.get(item, ""), p.text)
                for p in graded
            ]
    return rows


def grade_counts(passages: Sequence[GradedPassage]) -> Mapping[int, int]:
    """How often each grade was given, lowest first."""
    counts = Counter(grade for passage in passages for grade in passage.grades.values())
    return dict(sorted(counts.items()))
