"""The grades of a battle as the API shows them."""

from collections.abc import Iterable
from dataclasses import asdict

from nuggetstream.domain.grade import Criterion, Grade, Grading
from nuggetstream.views.grades import GradeView, GradingView, QuestionBankView, ValueProbabilityView


def grading_views(gradings: Iterable[Grading]) -> list[GradingView]:
    """The grades of all evaluators."""
    return [
        GradingView(
            evaluator=grading.evaluator,
            model=grading.model,
            prompt_version=grading.prompt_version,
            grades=_grades(grading),
            bank=None if grading.bank is None else QuestionBankView.model_validate(asdict(grading.bank)),
        )
        for grading in gradings
    ]


def _grades(grading: Grading) -> list[GradeView]:
    criteria = {criterion.name: criterion for criterion in grading.criteria}
    return [_grade(grade, criteria[grade.criterion]) for grade in grading.grades]


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
