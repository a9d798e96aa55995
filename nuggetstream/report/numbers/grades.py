"""Grades: what the evaluators say about each system's answers, documents and citations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.graded import GradeRow
from nuggetstream.files.results import Results

_RESAMPLES = 1000
_BOUNDS = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class SystemGrade:
    """The mean grade of one system on one criterion.

    Attributes:
        evaluator: Name of the evaluator.
        member: Name of the member of a panel; None for the evaluator, of a panel its members together.
        model: Its model; of a panel the models of all members.
        criterion: Name of the criterion.
        scale: Name of its scale.
        subject: Kind of subject that was graded.
        system: The system; None for grades that belong to no answer, such as those of queries.
        mean: Mean over battles of the mean grade in the battle.
        low: Lower bound of the 95% interval by bootstrap over battles; None with fewer than two battles.
        high: Upper bound of that interval.
        graded: Battles with such a grade.
        missing: Battles of the system without one, whatever the reason.
        failed: Those of them in which the evaluator gave up, or the member abstained.
    """

    evaluator: str
    member: str | None
    model: str
    criterion: str
    scale: str
    subject: str
    system: str | None
    mean: float
    low: float | None
    high: float | None
    graded: int
    missing: int
    failed: int


_Key = tuple[str, str | None, str, str, str, str, str | None]


def compute_grades(results: Results) -> tuple[SystemGrade, ...]:
    """The grades with a value, per evaluator, criterion and system."""
    by_key = grouped(
        (key, (battle.id, value)) for battle in results.battles for key, value in _values(battle)
    )
    return tuple(
        _system_grade(key, grouped(values), results.battles)
        for key, values in sorted(by_key.items(), key=lambda item: str(item[0]))
    )


def _values(battle: BattleRow) -> Iterator[tuple[_Key, float]]:
    for grading in battle.gradings:
        for member, model, grades in grading.by_grader():
            for grade in grades:
                if grade.value is not None:
                    for system in _systems(battle, grade):
                        names = (grade.criterion, grade.scale, grade.subject.value)
                        yield (grading.evaluator, member, model, *names, system), grade.value


def _systems(battle: BattleRow, grade: GradeRow) -> Iterable[str | None]:
    return [battle.answer(side).system for side in grade.sides] or [None]


def _system_grade(
    key: _Key, values: Mapping[str, Sequence[float]], battles: Sequence[BattleRow]
) -> SystemGrade:
    evaluator, member, model, criterion, scale, subject, system = key
    own = [battle for battle in battles if system is None or system in _names(battle)]
    missing = [battle for battle in own if battle.id not in values]
    means = [fmean(of_battle) for of_battle in values.values()]
    low, high = _bounds(means)
    return SystemGrade(
        evaluator=evaluator,
        member=member,
        model=model,
        criterion=criterion,
        scale=scale,
        subject=subject,
        system=system,
        mean=fmean(means),
        low=low,
        high=high,
        graded=len(means),
        missing=len(missing),
        failed=sum(_gave_up(battle, evaluator, member) for battle in missing),
    )


def _names(battle: BattleRow) -> set[str]:
    return {battle.answer(side).system for side in Side}


def _gave_up(battle: BattleRow, evaluator: str, member: str | None) -> bool:
    if any((each.stage, each.evaluator) == (Stage.GRADER.value, evaluator) for each in battle.failures):
        return True
    panels = [each.members for each in battle.gradings if each.evaluator == evaluator]
    return any(each.name == member and each.abstention is not None for panel in panels for each in panel)


def _bounds(means: Sequence[float]) -> tuple[float | None, float | None]:
    """The 95% interval of the mean, by resampling battles."""
    if len(means) < 2:
        return None, None
    drawn = np.random.default_rng(0).choice(np.asarray(means), (_RESAMPLES, len(means))).mean(axis=1)
    low, high = np.percentile(drawn, _BOUNDS)
    return float(low), float(high)
