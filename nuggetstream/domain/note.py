"""A remark that a reader needs before the numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """A condition of the data that changes how the numbers are read.

    Attributes:
        state: Name of the condition, for programs.
        text: What it means, for people.
    """

    state: str
    text: str
