"""What a grader left behind: passages, their grades, and where each run ranked them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MINIMUM_GRADE, MAXIMUM_GRADE = 0, 5


@dataclass(frozen=True, slots=True)
class GradedPassage:
    """One passage of one query.

    Attributes:
        query: its id.
        passage: its id.
        grades: item (question or nugget) id -> grade, 0..5. An item that is not there was not graded.
        judgment: of the human assessor, higher is more relevant; None when nobody judged the passage.
        ranks: run -> rank exactly as the run recorded it; runs count from 0 or from 1.
        text: of the passage.
        replies: item id -> what the grader wrote, where it was kept.
    """

    query: str
    passage: str
    grades: Mapping[str, int]
    judgment: int | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    replies: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outside = {item: grade for item, grade in self.grades.items() if not _is_grade(grade)}
        if outside:
            item, grade = next(iter(outside.items()))
            raise ValueError(f"passage {self.passage!r}: grade {grade} of {item!r} is not in 0..5")

    @property
    def best(self) -> int | None:
        """The highest grade; None when nothing was graded."""
        return max(self.grades.values(), default=None)


def by_query(passages: Sequence[GradedPassage]) -> dict[str, list[GradedPassage]]:
    """The passages of each query, both in the order given.

    Raises:
        ValueError: the same passage twice for one query; its grades would count twice.
    """
    found: dict[str, list[GradedPassage]] = {}
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        key = (passage.query, passage.passage)
        if key in seen:
            raise ValueError(f"passage {passage.passage!r} of query {passage.query!r} is there twice")
        seen.add(key)
        found.setdefault(passage.query, []).append(passage)
    return found


def items_of(passages: Sequence[GradedPassage]) -> tuple[str, ...]:
    """Every item graded on any of the passages, in the order first met."""
    return tuple(dict.fromkeys(item for passage in passages for item in passage.grades))


def covered(passages: Sequence[GradedPassage], minimum: int) -> set[str]:
    """The items that at least one passage answers with `minimum` or better."""
    return {item for passage in passages for item, grade in passage.grades.items() if grade >= minimum}


def first_ranks(passages: Sequence[GradedPassage]) -> dict[str, int]:
    """Run -> the smallest rank it ever recorded: whether it counts from 0 or from 1."""
    found: dict[str, int] = {}
    for passage in passages:
        for run, rank in passage.ranks.items():
            found[run] = min(rank, found.get(run, rank))
    return found


def _is_grade(grade: int) -> bool:
    return MINIMUM_GRADE <= grade <= MAXIMUM_GRADE
