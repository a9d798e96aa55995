"""The grades of a battle, prepared for its page.

gradings, evidence  ->  per evaluator, rows with subject, criterion, value on its scale and reason; of a panel
                        what each member said
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import SubjectKind
from nuggetstream.nuggets.label_agreement import FIRST, SECOND
from nuggetstream.views.battles import BattleView
from nuggetstream.views.grades import GradeView, GradingView


@dataclass(frozen=True, slots=True)
class MemberGrade:
    """What one member of a panel said about a subject.

    Attributes:
        name: Name of the member.
        value: The value without its scale.
        confidence: As of a row.
        reason: Why; None where the member gave no reason.
    """

    name: str
    value: str
    confidence: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class GradeRow:
    """One grade.

    Attributes:
        subject: What was graded, without the sides.
        sides: The sides that it belongs to.
        chunk: Number of the chunk of the evidence that was graded; None for other subjects.
        criterion: Name of the criterion.
        value: The value with its scale, such as "2 (0-2)"; None where only members of a panel have one.
        confidence: Such as "80% sure, expected 1.75"; None where the evaluator does not say.
        reason: Why; None where the evaluator gave no reason.
        said: What the members of a panel said; empty for a single model.
    """

    subject: str
    sides: tuple[Side, ...]
    chunk: int | None
    criterion: str
    value: str | None
    confidence: str | None
    reason: str | None
    said: Sequence[MemberGrade] = ()


@dataclass(frozen=True, slots=True)
class GradeTable:
    """The grades of one evaluator.

    Attributes:
        grading: The grades.
        rows: Those that the page shows.
        compared: Number of labels of a second assigner, of which only those that differ from the first's are
            shown; None for other evaluators.
    """

    grading: GradingView
    rows: Sequence[GradeRow]
    compared: int | None = None


def grade_tables(view: BattleView) -> list[GradeTable]:
    """The grades of a battle, per evaluator."""
    chunks = {chunk.chunk_id: number for number, chunk in enumerate(view.evidence, start=1)}
    texts = {nugget.id: nugget.text for nugget in view.nuggets}
    texts |= {
        asked.id: asked.text for grading in view.gradings if grading.bank for asked in grading.bank.questions
    }
    tables = []
    for grading in view.gradings:
        if any(grade.criterion == FIRST.name for grade in grading.grades):
            tables.append(_differing(grading, texts))
        else:
            tables.append(GradeTable(grading, list(_rows(grading, chunks, texts))))
    return tables


_Key = tuple[SubjectKind, tuple[Side, ...], str | None, int | None, str | None, str]


def _key(grade: GradeView) -> _Key:
    """What is graded on which criterion."""
    sides = tuple(grade.sides)
    return grade.subject, sides, grade.document, grade.sentence, grade.item, grade.criterion


def _rows(grading: GradingView, chunks: Mapping[str, int], texts: Mapping[str, str]) -> Iterator[GradeRow]:
    """A row per grade, and of a panel one for each grade that only members gave."""
    members, own = _said(grading), set(map(_key, grading.grades))
    for grade in grading.grades:
        yield replace(_row(grade, chunks, texts), said=members.get(_key(grade), ()))
    others = {_key(grade): grade for member in grading.members for grade in member.grades}
    for key, grade in others.items():
        if key not in own:
            row = _row(grade, chunks, texts)
            yield replace(row, value=None, confidence=None, reason=None, said=members[key])


def _said(grading: GradingView) -> Mapping[_Key, Sequence[MemberGrade]]:
    """What the members of a panel said about each subject."""
    by_key: dict[_Key, list[MemberGrade]] = {}
    for member in grading.members:
        for grade in member.grades:
            words = MemberGrade(member.name, _plain_value(grade), confidence_words(grade), grade.reason)
            by_key.setdefault(_key(grade), []).append(words)
    return by_key


def _differing(grading: GradingView, texts: Mapping[str, str]) -> GradeTable:
    """The labels of a second assigner that are not those of the first."""
    first = {(g.item, *g.sides): g.label for g in grading.grades if g.criterion == FIRST.name}
    own = [g for g in grading.grades if g.criterion == SECOND.name and (g.item, *g.sides) in first]
    members = _said(grading)
    rows = [
        replace(
            _row(grade, {}, texts),
            criterion="label",
            value=f"{_label(grade.label)}; the first: {_label(first[grade.item, *grade.sides])}",
            said=members.get(_key(grade), ()),
        )
        for grade in own
        if grade.label != first[grade.item, *grade.sides]
    ]
    return GradeTable(grading, rows, compared=len(own))


def _label(label: str | None) -> str:
    return (label or "none").replace("_", " ")


def _row(grade: GradeView, chunks: Mapping[str, int], texts: Mapping[str, str]) -> GradeRow:
    chunk = chunks.get(grade.document or "")
    return GradeRow(
        subject=_subject(grade, chunk, texts),
        sides=tuple(grade.sides),
        chunk=chunk,
        criterion=grade.criterion.replace("_", " "),
        value=value_words(grade),
        confidence=confidence_words(grade),
        reason=grade.reason,
    )


def value_words(grade: GradeView) -> str:
    """The value of a grade with its scale."""
    return f"{_plain_value(grade)} ({grade.scale})"


def _plain_value(grade: GradeView) -> str:
    words = [] if grade.value is None else [f"{grade.value:.2f}".rstrip("0").rstrip(".")]
    if grade.label is not None:
        words.append(grade.label.replace("_", " "))
    return ", ".join(words)


def confidence_words(grade: GradeView) -> str | None:
    """How sure the evaluator is, with the value to expect; None where it does not say."""
    if grade.confidence is None:
        return None
    expected = "" if grade.expected is None else f", expected {grade.expected:.2f}"
    return f"{grade.confidence:.0%} sure{expected}"


def _subject(grade: GradeView, chunk: int | None, texts: Mapping[str, str]) -> str:
    if grade.subject is SubjectKind.NUGGET:
        return texts.get(grade.item or "", "a nugget")
    if grade.subject is SubjectKind.DOCUMENT:
        document = f"chunk {chunk}" if chunk else "a document"
        return f"{document}: {texts.get(grade.item, 'a question')}" if grade.item else document
    if grade.subject is SubjectKind.CITATION:
        return f"sentence {grade.sentence}, {grade.document}"
    return texts.get(grade.item, "a question") if grade.item else grade.subject.value
