"""Panels: who abstains, who flips, who agrees with the panel, and whether members grade alike."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import JudgmentRow
from nuggetstream.files.graded import GradeRow, GradingRow
from nuggetstream.files.results import Results
from nuggetstream.nuggets.label_agreement import FIRST
from nuggetstream.statistics.krippendorff import Level, alpha_of_ratings
from nuggetstream.statistics.share import Share, share


@dataclass(frozen=True, slots=True)
class MemberAudit:
    """One member of a panel.

    Attributes:
        panel: Name of the evaluator.
        member: Name of the member.
        answered: Battles in which it answered, of those with a verdict or grades of the panel.
        abstentions: Why it did not -> number of battles.
        flipped: Verdicts that changed with the order, of those asked in both orders; none of an evaluator
            that grades.
        agrees: Verdicts, or grades where the panel has one, that are the panel's.
    """

    panel: str
    member: str
    answered: Share
    abstentions: dict[str, int]
    flipped: Share
    agrees: Share


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """How far the members of a panel agree on one criterion.

    Attributes:
        panel: Name of the evaluator.
        criterion: Name of the criterion.
        scale: Name of its scale.
        subjects: What at least two members graded.
        ungraded: What a member graded and the panel did not: too few members did, or no majority agreed.
        alpha: Krippendorff's alpha, ordinal for values and nominal for words; None where nothing could have
            disagreed.
    """

    panel: str
    criterion: str
    scale: str
    subjects: int
    ungraded: int
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels, member by member and, of evaluators that grade, criterion by criterion."""

    members: tuple[MemberAudit, ...]
    criteria: tuple[CriterionAgreement, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a member said about one battle: why nothing, whether it flipped, and how often as the panel."""

    abstention: str | None
    flipped: bool | None
    same: int
    compared: int


_Subject = tuple[str, tuple[Side, ...], str | None, int | None, str | None]
_Said = tuple[float | None, str | None]
_Member = tuple[str, str]  # the names of a panel and of its member


def compute_panels(results: Results) -> Panels:
    """The panels, by name."""
    judgments = [row for battle in results.battles for row in (*battle.judgments, *battle.guided)]
    graded = [grading for battle in results.battles for grading in battle.gradings if grading.members]
    answers = grouped(chain(*map(_judged, judgments), *map(_graded, graded)))
    gradings = grouped((grading.evaluator, grading) for grading in graded)
    return Panels(
        tuple(_audit(*key, answered) for key, answered in sorted(answers.items())),
        tuple(criterion for name in sorted(gradings) for criterion in _criteria(name, gradings[name])),
    )


def _judged(judgment: JudgmentRow) -> Iterator[tuple[_Member, _Answer]]:
    for member in judgment.members:
        voted = member.winner is not None
        reason = None if voted else member.abstention or "unknown"
        same = int(voted and member.winner is judgment.winner)
        flipped = member.flipped if voted else None
        yield (judgment.evaluator, member.name), _Answer(reason, flipped, same, int(voted))


def _graded(grading: GradingRow) -> Iterator[tuple[_Member, _Answer]]:
    together = _by_subject(grading.grades)
    for member in grading.members:
        own = {key: value for key, value in _by_subject(member.grades).items() if key in together}
        same = sum(value == together[key] for key, value in own.items())
        yield (grading.evaluator, member.name), _Answer(member.abstention, None, same, len(own))


def _audit(panel: str, member: str, answers: Sequence[_Answer]) -> MemberAudit:
    reasons = Counter(answer.abstention for answer in answers if answer.abstention is not None)
    twice = [answer.flipped for answer in answers if answer.flipped is not None]
    return MemberAudit(
        panel=panel,
        member=member,
        answered=share(len(answers) - reasons.total(), len(answers)),
        abstentions=dict(sorted(reasons.items())),
        flipped=share(sum(twice), len(twice)),
        agrees=share(sum(answer.same for answer in answers), sum(answer.compared for answer in answers)),
    )


def _by_subject(grades: Sequence[GradeRow]) -> Mapping[tuple[str, _Subject], _Said]:
    """What was said about each subject; without what a second assigner was only shown."""
    return {
        (grade.criterion, _subject(grade)): (grade.value, grade.label)
        for grade in grades
        if grade.criterion != FIRST.name
    }


def _subject(grade: GradeRow) -> _Subject:
    return grade.subject.value, grade.sides, grade.document, grade.sentence, grade.item


def _criteria(panel: str, gradings: Sequence[GradingRow]) -> Iterator[CriterionAgreement]:
    scales = {
        grade.criterion: grade.scale
        for grading in gradings
        for _, _, grades in grading.by_grader()
        for grade in grades
    }
    ratings: dict[str, list[list[_Said | None]]] = {}
    ungraded: Counter[str] = Counter()
    names = list(dict.fromkeys(member.name for grading in gradings for member in grading.members))
    for grading in gradings:
        by_member = {member.name: _by_subject(member.grades) for member in grading.members}
        together = _by_subject(grading.grades)
        for key in dict.fromkeys(key for own in by_member.values() for key in own):
            ratings.setdefault(key[0], []).append([by_member.get(name, {}).get(key) for name in names])
            ungraded[key[0]] += key not in together
    for criterion, rated in sorted(ratings.items()):
        yield CriterionAgreement(
            panel=panel,
            criterion=criterion,
            scale=scales[criterion],
            subjects=sum(sum(value is not None for value in row) > 1 for row in rated),
            ungraded=ungraded[criterion],
            alpha=_alpha(rated),
        )


def _alpha(rated: Sequence[Sequence[_Said | None]]) -> float | None:
    given = [rating for row in rated for rating in row if rating is not None]
    if any(value is None for value, _ in given):
        words = [[None if rating is None else rating[1] for rating in row] for row in rated]
        return alpha_of_ratings(list(zip(*words, strict=True)), Level.NOMINAL)
    values = [[None if rating is None else rating[0] for rating in row] for row in rated]
    return alpha_of_ratings(list(zip(*values, strict=True)), Level.ORDINAL)
