"""A label that one worker of a crowd gave to one item."""

from collections.abc import Iterable
from dataclasses import dataclass

JOINED = " | "  # between the parts of a name that several columns make up


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Two answers in the order in which a worker saw them.

    Attributes:
        topic: What both answers are about; None where no column names it.
        first: Answer shown first.
        second: Answer shown second.
    """

    topic: str | None
    first: str
    second: str

    @property
    def name(self) -> str:
        """Name of the pair, the same in both orders."""
        topic = () if self.topic is None else (self.topic,)
        return JOINED.join((*topic, *sorted((self.first, self.second))))

    @property
    def is_reversed(self) -> bool:
        """Whether the answers were shown against their alphabetical order."""
        return self.first > self.second


@dataclass(frozen=True, slots=True)
class WorkerLabel:
    """One label that one worker gave to one item.

    Attributes:
        item: Name of the item.
        worker: Name of the worker.
        label: The label; numbers in their shortest form.
        spam: Probability that the label is spam, as estimated elsewhere; None where there is none.
        shown: The two answers of the item in the order shown; None where the item is no pair.
        position: Position of the item in its worker's session; None where it is unknown.
        line: File and line; None for a label that was not read from a file.
    """

    item: str
    worker: str
    label: str
    spam: float | None = None
    shown: ShownPair | None = None
    position: int | None = None
    line: str | None = None

    @property
    def origin(self) -> str:
        """Where to look for the label, for error messages."""
        return self.line or f"item {self.item!r}, worker {self.worker!r}"


def repetition(dimension: str, labels: Iterable[WorkerLabel]) -> str | None:
    """The first label that a worker gives to an item labelled before, as a sentence; None without one."""
    first_of: dict[tuple[str, str], WorkerLabel] = {}
    for label in labels:
        pair = (label.item, label.worker)
        if pair in first_of:
            first = first_of[pair].origin
            twice = f"{label.worker!r} labels {label.item!r} twice in {dimension!r}, first at {first}"
            return f"{label.origin}: worker: {twice}; a repeated answer is no second opinion"
        first_of[pair] = label
    return None


def shortest_form(label: str) -> str:
    """A label; numbers in their shortest form, so that 1 and 1.0 are one label.

    >>> shortest_form("1.0"), shortest_form("good")
    ('1', 'good')
    """
    try:
        return f"{float(label):.15g}"
    except ValueError:
        return label
