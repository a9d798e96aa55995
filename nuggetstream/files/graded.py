"""The grades of a battle in a file of evaluated battles."""

from collections.abc import Iterator

from pydantic import Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import GradeAggregation, SubjectKind
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.files.fields import Part


class ValueProbabilityRow(Part):
    """How probable one value of a scale is."""

    value: float
    probability: float = Field(ge=0, le=1)


class GradeRow(Part):
    """One grade: what was graded, on which criterion, and the value (None where the scale has words)."""

    subject: SubjectKind
    sides: tuple[Side, ...] = ()
    criterion: str
    scale: str
    low: float | None = None
    high: float | None = None
    value: float | None = None
    label: str | None = None
    item: str | None = None
    document: str | None = None
    sentence: int | None = Field(default=None, ge=1)
    reason: str | None = None
    probabilities: tuple[ValueProbabilityRow, ...] = ()
    expected: float | None = None


class MemberGradesRow(Part):
    """The grades of one member of a panel; an abstention has none, and a reason."""

    name: str
    model: str
    grades: tuple[GradeRow, ...] = ()
    abstention: str | None = None


class GradingRow(Part):
    """The grades of one evaluator, and the questions that it asked, if any.

    The grades of a panel are those of its members together.
    """

    evaluator: str
    model: str
    prompt_version: str | None = None
    grades: tuple[GradeRow, ...] = ()
    bank: QuestionBank | None = None
    members: tuple[MemberGradesRow, ...] = ()
    aggregation: GradeAggregation | None = None

    def by_grader(self) -> Iterator[tuple[str | None, str, tuple[GradeRow, ...]]]:
        """Name, model and grades of each member that answered, after those of the evaluator (None)."""
        yield None, self.model, self.grades
        for member in self.members:
            if member.abstention is None:
                yield member.name, member.model, member.grades
