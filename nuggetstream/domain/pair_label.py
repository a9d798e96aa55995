"""A label that compares two items of one topic."""

from dataclasses import dataclass

from nuggetstream.domain.battle import Vote

# The usual labels of a choice between two answers, in order.
PREFERENCES = {"a": Vote.A, "n": Vote.TIE, "tie": Vote.TIE, "b": Vote.B}


@dataclass(frozen=True, slots=True)
class PairLabel:
    """Which of two items is better, or that neither is.

    Attributes:
        first: Name of the first item.
        second: Name of the second item.
        label: A for the first item, B for the second, TIE for neither.
        topic: Name of the topic that both items belong to; None where there is one topic only.
        dimension: Name of the quality that is compared.
    """

    first: str
    second: str
    label: Vote
    topic: str | None = None
    dimension: str = "label"

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"item {self.first!r} is compared with itself")
