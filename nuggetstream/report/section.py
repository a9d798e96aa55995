"""What the report is made of: chapters of sections, and sections of parts.

A part is a set of numbers, computed from results, and their drawing. The numbers are in report.json under the
part's name; the drawing is on the page in the part's section. Two sections may draw the same numbers.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, TypeVar

from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, NotMeasured

Numbers = TypeVar("Numbers")


@dataclass(frozen=True, slots=True)
class Content:
    """What a part shows for one file of results.

    Attributes:
        findings: What these results say, the most important first; the first may stand on top of the page.
        reading: How to read the part.
        basis: What all of it rests on, such as "664 of 791 battles".
        blocks: Facts, figures, tables, notices, and what is not measured, in order. Without any but the
            last, the part is not shown.
    """

    findings: tuple[str, ...]
    reading: str
    basis: str
    blocks: tuple[Block, ...]

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to show."""
        return not all(isinstance(block, NotMeasured) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Part(Generic[Numbers]):
    """Numbers and their drawing.

    Attributes:
        name: Key of the numbers in report.json; parts of one name compute the same.
        compute: Computes the numbers; knows nothing of pages. The numbers are a dataclass, or a sequence of
            dataclasses, of plain values. A number that the data do not give is None.
        draw: Turns the numbers into figures, tables and sentences; computes nothing.
    """

    name: str
    compute: Callable[[Results], Numbers]
    draw: Callable[[Numbers], Content]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the page.

    Attributes:
        name: Anchor in the page.
        title: Heading.
        question: What the section answers, as a question.
        parts: What it shows, in order.
    """

    name: str
    title: str
    question: str
    parts: tuple[Part[Any], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Sections about one question of a reader.

    Attributes:
        name: Anchor in the page.
        title: Heading, and label in the navigation.
        sections: In the order of the page.
    """

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def parts(self) -> tuple[Part[Any], ...]:
        """The parts of all sections, in order."""
        return tuple(part for section in self.sections for part in section.parts)


def as_json(numbers: Any) -> Any:
    """Dataclasses, alone or in a sequence, as dictionaries."""
    if is_dataclass(numbers) and not isinstance(numbers, type):
        return asdict(numbers)
    return [as_json(part) for part in numbers]
