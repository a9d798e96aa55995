"""What a section of the report is: a name, a question, numbers computed from results, and their drawing."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, TypeVar

from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block

Numbers = TypeVar("Numbers")


@dataclass(frozen=True, slots=True)
class Content:
    """What a section shows for one file of results.

    Attributes:
        finding: What these results say, in one or two sentences; empty if there is none.
        reading: How to read the section.
        basis: What all of it rests on, such as "664 of 791 battles".
        blocks: Facts, figures, tables and notes, in order.
    """

    finding: str
    reading: str
    basis: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section(Generic[Numbers]):
    """One section of the report.

    Attributes:
        name: Anchor in the page, key in report.json, and label in the navigation; part of the title.
        title: Heading.
        question: What the section answers, as a question.
        compute: Computes the numbers; knows nothing of pages. The numbers are a dataclass, or a sequence of
            dataclasses, of plain values. A number that the data do not give is None.
        draw: Turns the numbers into figures, tables and sentences; computes nothing.
    """

    name: str
    title: str
    question: str
    compute: Callable[[Results], Numbers]
    draw: Callable[[Numbers], Content]

    def build(self, results: Results) -> tuple[Content, Any]:
        """What the section shows, and the numbers behind it as plain JSON."""
        numbers = self.compute(results)
        return self.draw(numbers), as_json(numbers)


def as_json(numbers: Any) -> Any:
    """Dataclasses, alone or in a sequence, as dictionaries."""
    if is_dataclass(numbers) and not isinstance(numbers, type):
        return asdict(numbers)
    return [as_json(part) for part in numbers]
