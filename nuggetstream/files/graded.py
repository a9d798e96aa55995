"""The grades of a battle in a file of evaluated battles."""

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import SubjectKind
from nuggetstream.domain.question_bank import BankKind


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class ValueProbabilityRow(_Part):
    """How probable one value of a scale is."""

    value: float
    probability: float = Field(ge=0, le=1)


class GradeRow(_Part):
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
    reason: str | None = None
    probabilities: tuple[ValueProbabilityRow, ...] = ()
    expected: float | None = None


class BankQuestionRow(_Part):
    """An exam question, or a key fact."""

    id: str
    text: str


class QuestionBankRow(_Part):
    """The questions that answers were graded on."""

    query_id: str
    version: int
    kind: BankKind
    model: str
    prompt_version: str
    created_at: AwareDatetime
    questions: tuple[BankQuestionRow, ...]


class GradingRow(_Part):
    """The grades of one evaluator, and the questions that it asked, if any."""

    evaluator: str
    model: str
    prompt_version: str | None = None
    grades: tuple[GradeRow, ...] = ()
    bank: QuestionBankRow | None = None
