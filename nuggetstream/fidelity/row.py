"""One line of the fidelity table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One published number beside ours.

    Attributes:
        id: such as "F4".
        what: the number, in a few words.
        published: as published.
        ours: as computed, in the same form.
        tolerance: allowed difference, or "exact".
        passed: whether ours is within it.
    """

    id: str
    what: str
    published: str
    ours: str
    tolerance: str
    passed: bool


# A family of rows: the folder of recorded data in, rows out.
Family = Callable[[Path], Sequence[Row]]


def near(id_: str, what: str, published: float, ours: float, *, tolerance: float, digits: int = 3) -> Row:
    """A row for one number that may differ by at most `tolerance`."""
    return Row(
        id_,
        what,
        f"{published:.{digits}f}",
        f"{ours:.{digits}f}",
        f"±{tolerance:g}",
        abs(ours - published) <= tolerance,
    )
