"""What a person looks at to oversee a rubric: contradicted grades, and questions that tell nothing.

A question that every passage answers, or none does, sets no two systems apart.

Source: Farzi and Dietz, "EXAM++" and the Rubric-Grading Workbench, 2024.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.rubric.grading import by_query, items_of
from nuggetstream.rubric.verification import HIGH_GRADE


@dataclass(frozen=True, slots=True)
class ContradictedGrade:
    """A good grade that a check of what was found does not confirm.

    Attributes:
        query: Id of the query.
        item: Id of the question or nugget.
        passage: Id of the passage.
        grade: Its grade.
        check: Prompt class of the grades that contradict it.
        reply: What the grader found; None when it was not kept.
    """

    query: str
    item: str
    passage: str
    grade: int
    check: str
    reply: str | None


@dataclass(frozen=True, slots=True)
class AlikeItem:
    """An item that every passage answers well, or that none does.

    Attributes:
        query: Id of the query.
        item: Id of the question or nugget.
        answered: Number of passages that answer it well: all or none.
        passages: Number of passages on which it was graded, at least 2.
        best: Its best grade.
    """

    query: str
    item: str
    answered: int
    passages: int
    best: int


def contradicted_grades(
    passages: Sequence[GradedPassage],
    checks: Mapping[str, Sequence[GradedPassage]],
    minimum: int = HIGH_GRADE,
) -> list[ContradictedGrade]:
    """Good grades of which a check says that what was found is no answer.

    Args:
        passages: Graded passages.
        checks: Prompt class -> the same passages with checked grades, in which a wrong finding has 0. A grade
            that was not checked has none there, and is not contradicted.
        minimum: Lowest grade that is good.
    """
    contradicted = []
    for name, checked in checks.items():
        of = {(passage.query, passage.passage): passage.grades for passage in checked}
        for passage in passages:
            labels = of.get((passage.query, passage.passage), {})
            contradicted += [
                ContradictedGrade(
                    query=passage.query,
                    item=item,
                    passage=passage.passage,
                    grade=grade,
                    check=name,
                    reply=passage.replies.get(item),
                )
                for item, grade in passage.grades.items()
                if grade >= minimum and labels.get(item) == 0
            ]
    return contradicted


def alike_items(passages: Sequence[GradedPassage], minimum: int = HIGH_GRADE) -> list[AlikeItem]:
    """Items that all passages answer with `minimum` or better, or that none does, of at least two."""
    alike = []
    for query, members in by_query(passages).items():
        for item in items_of(members):
            grades = [passage.grades[item] for passage in members if item in passage.grades]
            answered = sum(grade >= minimum for grade in grades)
            if len(grades) > 1 and answered in (0, len(grades)):
                alike.append(
                    AlikeItem(
                        query=query, item=item, answered=answered, passages=len(grades), best=max(grades)
                    )
                )
    return alike


def judged_by(
    passages: Sequence[GradedPassage], labels: Collection[Relevance]
) -> tuple[list[GradedPassage], list[Relevance]]:
    """The passages with the judgments of labels in place of their own.

    Returns:
        The passages, and the labels of passages that are not there.
    """
    of = {(label.query, label.passage): label.label for label in labels}
    there = {(passage.query, passage.passage) for passage in passages}
    given = [replace(p, judgment=of.get((p.query, p.passage), p.judgment)) for p in passages]
    return given, [label for label in labels if (label.query, label.passage) not in there]
