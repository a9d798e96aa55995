"""The grades of a battle as the API shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from nuggetstream.domain.grade import Criterion, Grade, Grading
from nuggetstream.views.grades import (
    GradeView,
    GradingView,
    MemberGradesView,
    QuestionBankView,
    ValueProbabilityView,
)


def grading_views(gradings: Iterable[Grading]) -> list[GradingView]:
    """The grades of all evaluators."""
    return [_grading(grading) for grading in gradings]


def _grading(grading: Grading) -> GradingView:
    criteria = {criterion.name: criterion for criterion in grading.criteria}
    return GradingView(
        evaluator=grading.evaluator,
        model=grading.model,
        prompt_version=grading.prompt_version,
        grades=_grades(grading.grades, criteria),
        bank=None if grading.bank is None else QuestionBankView.model_validate(asdict(grading.bank)),
        members=[
            MemberGradesView(
                name=member.name,
                model=member.model,
                grades=_grades(member.grades, criteria),
                abstention=member.abstention,
            )
            for member in grading.members
        ],
        aggregation=grading.aggregation,
        abstentions=grading.abstentions,
    )


def _grades(grades: Iterable[Grade], criteria: Mapping[str, Criterion]) -> list[GradeView]:
    return [_grade(grade, criteria[grade.criterion]) for grade in grades]


def _grade(grade: Grade, criterion: Criterion) -> GradeView:
    subject = grade.subject
    return GradeView(
        subject=subject.kind,
        sides=list(subject.sides),
        document=subject.document,
        sentence=subject.sentence,
        item=subject.item,
        criterion=criterion.name,
        scale=criterion.scale,
        low=criterion.low,
        high=criterion.high,
        value=grade.value,
        label=grade.label,
        reason=grade.reason,
        confidence=grade.confidence,
        probabilities=[
            ValueProbabilityView(value=each.value, probability=each.probability)
            for each in grade.probabilities
        ],
        expected=grade.expected,
    )
