"""Grades as JSON."""

from pydantic import Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import GradeAggregation, SubjectKind, ValueProbability
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.views.common import View


class GradeView(View):
    """One grade of an answer, a document, a citation, a nugget or the query."""

    subject: SubjectKind
    sides: list[Side]
    """The side of an answer or citation; of a document, the sides that cite it."""
    document: str | None = None
    """Id of a chunk of the evidence, or the URL of a cited page."""
    sentence: int | None = None
    """Number of the sentence with the citation, from 1."""
    item: str | None = None
    """Id of the nugget or of the question of a rubric; null where the grade is about neither."""
    criterion: str
    scale: str
    low: float | None = None
    high: float | None = None
    value: float | None = None
    """The value on the scale; null where its values are words."""
    label: str | None = None
    """The value as a word; null where the scale has no words."""
    reason: str | None = None
    confidence: float | None = None
    """Probability that the value is right; null when unknown."""
    probabilities: list[ValueProbability] = Field(default_factory=list)
    """Of every value of the scale, together 1; empty when unknown."""
    expected: float | None = None
    """The mean of the values, weighted by their probabilities; null when unknown."""


class MemberGradesView(View):
    """The grades of one member of a panel. An abstention has none, which is no zero."""

    name: str
    model: str
    grades: list[GradeView]
    """Empty for an abstention, and where there was nothing to grade."""
    abstention: Reason | None = None
    """Why there are no grades; null where the member answered."""


class GradingView(View):
    """The grades of one evaluator; empty where it found nothing to grade."""

    evaluator: str
    model: str
    prompt_version: str
    grades: list[GradeView]
    """Of a panel those of its members together; the reason of each is that of the first member who agrees."""
    bank: QuestionBank | None = None
    """The questions of a rubric; null for evaluators that ask none."""
    members: list[MemberGradesView] = Field(default_factory=list)
    """What each member of a panel graded; empty for a single model."""
    aggregation: GradeAggregation | None = None
    """How the members' grades became one; null for a single model."""
    abstentions: int = 0
    """Number of members that abstained."""
