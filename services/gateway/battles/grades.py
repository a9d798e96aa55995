"""The grades of a battle as the API shows them."""

from collections.abc import Iterable, Mapping

from nuggetstream.domain.grade import Criterion, Grade, Grading
from nuggetstream.views.grades import (
    GradeView,
    GradingView,
    MemberGradesView,
)


def grading_views(gradings: Iterable[Grading]) -> list[GradingView]:
    """The grades of all evaluators."""
    return [_grading(grading) for grading in gradings]


def _grading(grading: Grading) -> GradingView:
    criteria = {criterion.name: criterion for criterion in grading.criteria}
    members = [
        MemberGradesView.showing(member, grades=_grades(member.grades, criteria))
        for member in grading.members
    ]
    return GradingView.showing(grading, grades=_grades(grading.grades, criteria), members=members)


def _grades(grades: Iterable[Grade], criteria: Mapping[str, Criterion]) -> list[GradeView]:
    return [_grade(grade, criteria[grade.criterion]) for grade in grades]


def _grade(grade: Grade, criterion: Criterion) -> GradeView:
    subject = grade.subject
    return GradeView.showing(
        grade,
        subject=subject.kind,
        sides=subject.sides,
        document=subject.document,
        sentence=subject.sentence,
        item=subject.item,
        scale=criterion.scale,
        low=criterion.low,
        high=criterion.high,
    )
