"""A number of a text with its unit, and when another one states or excludes it."""

from collections.abc import Iterator
from dataclasses import dataclass

from nuggetstream.text.dates import Date
from nuggetstream.text.word_forms import same_word

_UNSPACED = "\u0e00"  # first letter of scripts without spaces between words
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
        of: The word after it, of what it is the number; None without one.
        named: Whether it is a part of a name, as in "Apollo 11".
    """

    values: frozenset[float]
    unit: str | None = None
    year: Date | None = None
    rough: bool = False
    bound: bool = False
    span: tuple[float, float] | None = None
    of: str | None = None
    named: bool = False

    def states(self, other: "Number") -> bool:
        """Whether it is the other number, with its unit."""
        if self.unit != other.unit and not self._is_finer(other):
            return False
        if not self.values.isdisjoint(other.values):
            return True
        near = _CLOSE if other.rough else 1e-9
        return any(
            abs(mine - theirs) <= near * abs(theirs) for mine in self.values for theirs in other.values
        )

    def _is_finer(self, other: "Number") -> bool:
        """Whether it has a unit and the other has none, or has it in degrees of no scale."""
        if other.unit is None:
            return self.unit != "%"
        return other.unit == "°" and self.unit in ("°C", "°F")

    def is_comparable(self, other: "Number") -> bool:
        """Whether both can be numbers of the same: of one unit, or of one thing, and not of a name."""
        if self.unit != other.unit or self.named or other.named:
            return False
        if self.unit is not None or self.of is None or other.of is None:
            return True
        return same_word(self.of, other.of) or (self.of[0] >= _UNSPACED and self.of[0] == other.of[0])

    def excludes(self, other: "Number") -> bool:
        """Whether it is another number of the same, and neither is a limit."""
        if not self.is_comparable(other) or self.bound or other.bound:
            return False
        if self.states(other) or other.states(self):
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
