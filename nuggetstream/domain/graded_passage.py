"""Passages with the grades that a grader gave them, and relevance labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MINIMUM_GRADE, MAXIMUM_GRADE = 0, 5


@dataclass(frozen=True, slots=True)
class GradedPassage:
    """One passage of one query.

    Attributes:
        query: Id of the query.
        passage: Id of the passage.
        grades: Grade from 0 to 5 by id of the item (question or nugget). An item without an entry was not
            graded.
        judgment: Label of the human assessor, higher is more relevant; None when nobody judged the passage.
        ranks: Rank by run, exactly as the run recorded it; some runs count from 0, others from 1.
        text: Text of the passage; None where the record holds none.
        replies: What the grader wrote, by id of the item, where it was recorded.
    """

    query: str
    passage: str
    grades: Mapping[str, int]
    judgment: int | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    text: str | None = None
    replies: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outside = {item: grade for item, grade in self.grades.items() if not _is_grade(grade)}
        if outside:
            item, grade = next(iter(outside.items()))
            raise ValueError(f"passage {self.passage!r}: grade {grade} of {item!r} is not in 0..5")

    @property
    def best(self) -> int | None:
        """The highest grade; None when no item was graded."""
        return max(self.grades.values(), default=None)


@dataclass(frozen=True, slots=True)
class Relevance:
    """One line of a qrels file."""

    query: str
    passage: str
    label: int


def _is_grade(grade: int) -> bool:
    return MINIMUM_GRADE <= grade <= MAXIMUM_GRADE
