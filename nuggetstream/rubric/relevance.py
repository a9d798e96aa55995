"""Relevance labels (qrels) from rubric grades.

Source: Farzi and Dietz, 2024 (RUBRIC-Qrels).
"""

from collections.abc import Callable, Sequence

from nuggetstream.domain.graded_passage import GradedPassage, Relevance

Label = Callable[[GradedPassage], int | None]


def best_grade(passage: GradedPassage) -> int | None:
    """The highest grade of any item, 0..5; None when nothing was graded.

    >>> best_grade(GradedPassage("q", "p", {"x": 1, "y": 4}))
    4
    """
    return passage.best


def grade_reached_by(answers: int) -> Label:
    """A function: the highest grade that so many items reach; None where fewer are graded.

    It is `minimum` or better exactly where at least `answers` items are graded `minimum` or better.

    >>> grade_reached_by(2)(GradedPassage("q", "p", {"x": 1, "y": 4, "z": 3}))
    3
    """

    def label(passage: GradedPassage) -> int | None:
        grades = sorted(passage.grades.values(), reverse=True)
        return grades[answers - 1] if len(grades) >= answers else None

    return label


def best_grade_from(minimum: int) -> Label:
    """A function: the highest grade, or 0 where it is below `minimum`; None when nothing was graded."""

    def label(passage: GradedPassage) -> int | None:
        best = passage.best
        return None if best is None else best if best >= minimum else 0

    return label


def items_answered(minimum: int) -> Label:
    """A function: the number of items graded `minimum` or better; None when nothing was graded.

    >>> items_answered(3)(GradedPassage("q", "p", {"x": 1, "y": 4, "z": 3}))
    2
    """

    def label(passage: GradedPassage) -> int | None:
        return sum(grade >= minimum for grade in passage.grades.values()) if passage.grades else None

    return label


def relevance_labels(passages: Sequence[GradedPassage], label: Label = best_grade) -> list[Relevance]:
    """One label per passage in the order given; a passage without a grade gets no label, not a 0."""
    labels = ((passage, label(passage)) for passage in passages)
    return [Relevance(p.query, p.passage, value) for p, value in labels if value is not None]
