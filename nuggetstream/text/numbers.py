"""A number of a text with its unit, and when another one states or excludes it."""

from collections.abc import Iterator
from dataclasses import dataclass

from nuggetstream.text.dates import Date

_CLOSE = 0.05  # share by which a rough number may differ from the one that it stands for


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit.

    Attributes:
        values: What it can mean, in the base unit.
        unit: Symbol of the base unit; None without one.
        year: The same as a year, where it may be one.
        rough: Whether the text says that it is not exact.
        bound: Whether the text says that it is a limit.
        span: The range of which it is one end; None without one.
    """

    values: frozenset[float]
    unit: str | None = None
    year: Date | None = None
    rough: bool = False
    bound: bool = False
    span: tuple[float, float] | None = None

    def states(self, other: "Number") -> bool:
        """Whether it is the other number, with its unit."""
        if self.unit != other.unit and (other.unit is not None or self.unit == "%"):
            return False
        if not self.values.isdisjoint(other.values):
            return True
        near = _CLOSE if other.rough else 1e-9
        return any(
            abs(mine - theirs) <= near * abs(theirs) for mine in self.values for theirs in other.values
        )

    def excludes(self, other: "Number") -> bool:
        """Whether it is another number with the same unit, and neither is a limit."""
        if self.unit != other.unit or self.bound or other.bound or self.states(other) or other.states(self):
            return False
        if any(span[0] <= value <= span[1] for span, value in _within(self, other)):
            return False
        if not (self.rough or other.rough):
            return True
        return all(
            abs(mine - theirs) > 4 * _CLOSE * max(abs(mine), abs(theirs))
            for mine in self.values
            for theirs in other.values
        )


def _within(one: Number, other: Number) -> Iterator[tuple[tuple[float, float], float]]:
    for number, rest in ((one, other), (other, one)):
        if number.span is not None:
            yield from ((number.span, value) for value in rest.values)
