"""Grades: what an evaluator says about one answer, document, citation or query, on a named scale.

A judge compares two answers; an evaluator grades one thing at a time. What could not be graded has no grade:
a missing grade is never a zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.battle import Side
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.question_bank import QuestionBank


class SubjectKind(StrEnum):
    """What can be graded."""

    ANSWER = "answer"
    DOCUMENT = "document"
    CITATION = "citation"
    QUERY = "query"
    NUGGET = "nugget"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a grade is about.

    Attributes:
        kind: Kind of subject.
        sides: The side of an answer or citation; of a document, the sides that cite it; none for a query or a
            nugget.
        document: Id of the chunk, or URL of the page that a citation names; None for other subjects.
        sentence: Number of the sentence with the citation, from 1; None for other subjects.
        item: Id of the nugget, or of the question of a rubric; None where the grade is about neither.
    """

    kind: SubjectKind
    sides: tuple[Side, ...] = ()
    document: str | None = None
    sentence: int | None = None
    item: str | None = None

    @classmethod
    def answer(cls, side: Side) -> "Subject":
        """The answer of one side."""
        return cls(SubjectKind.ANSWER, (side,))


@dataclass(frozen=True, slots=True)
class Criterion:
    """One aspect that an evaluator grades.

    Attributes:
        name: Its name, unique within the evaluator.
        scale: Name of the scale, such as "0-2".
        low: Smallest value; None where the values are words.
        high: Largest value; None where the values are words.
    """

    name: str
    scale: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ValueProbability:
    """How probable one value of a scale is."""

    value: float
    probability: float


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade.

    Attributes:
        subject: What was graded.
        criterion: Name of the criterion, which defines the scale.
        value: The value on that scale; None where the values are words.
        label: The value as a word; None where the scale has no words.
        reason: Why, as the evaluator says it; None where it says nothing.
        confidence: Probability that the value is right; None when unknown.
        probabilities: Of every value of the scale, together 1; empty when unknown.
    """

    subject: Subject
    criterion: str
    value: float | None = None
    label: str | None = None
    reason: str | None = None
    confidence: float | None = None
    probabilities: tuple[ValueProbability, ...] = ()

    @property
    def expected(self) -> float | None:
        """The mean of the scale's values, weighted by their probabilities; None when those are unknown.

        >>> told = (ValueProbability(0, 0.25), ValueProbability(2, 0.75))
        >>> Grade(Subject(SubjectKind.QUERY), "relevance", 2, probabilities=told).expected
        1.5
        """
        if not self.probabilities:
            return None
        return sum(share.value * share.probability for share in self.probabilities)


class GradeAggregation(StrEnum):
    """How the grades of a panel's members become one."""

    MEDIAN = "median"
    MAJORITY = "majority"


@dataclass(frozen=True, slots=True)
class MemberGrades:
    """The grades of one member of a panel, or why it gave none.

    Attributes:
        name: Name of the member in the panel.
        model: Chat model that answered, or that was asked in vain.
        grades: Its grades; empty for an abstention, and where there was nothing to grade.
        abstention: Why there are no grades; None where the member answered.
    """

    name: str
    model: str
    grades: tuple[Grade, ...] = ()
    abstention: Reason | None = None


@dataclass(frozen=True, slots=True)
class Grading:
    """The grades that one evaluator gave in one battle.

    Attributes:
        evaluator: Name of the evaluator.
        model: Chat model that graded; of a panel the models that were asked, separated by commas.
        prompt_version: Version of its prompts.
        criteria: The criteria that its grades name.
        grades: The grades, of a panel those of all members together; a subject that could not be graded has
            none.
        bank: The questions that subjects were graded on; None for an evaluator that asks none.
        list_version: Version of the nugget list that the evaluator was shown; None where it was shown none.
        members: What each member of a panel graded; empty for a single model.
        aggregation: How the members' grades became one; None for a single model.
    """

    evaluator: str
    model: str
    prompt_version: str
    criteria: tuple[Criterion, ...]
    grades: tuple[Grade, ...]
    bank: QuestionBank | None = None
    list_version: int | None = None
    members: tuple[MemberGrades, ...] = ()
    aggregation: GradeAggregation | None = None

    @property
    def abstentions(self) -> int:
        """Number of members without grades because they abstained."""
        return sum(member.abstention is not None for member in self.members)

    def by_grader(self) -> Iterator[tuple[str, str, tuple[Grade, ...]]]:
        """Name, model and grades of the evaluator, and of each member that answered, as "PANEL/MEMBER"."""
        yield self.evaluator, self.model, self.grades
        for member in self.members:
            if member.abstention is None:
                yield f"{self.evaluator}/{member.name}", member.model, member.grades
