"""One line of the fidelity table."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from nuggetstream.files.numerals import fixed, integer


class Basis(StrEnum):
    """Where the reference of a row comes from, which limits what a pass means."""

    PRINTED = "P"
    RECORDED = "R"
    SECOND = "S"
    BY_HAND = "H"

    @property
    def meaning(self) -> str:
        """What the letter stands for."""
        return {
            Basis.PRINTED: "printed in the paper",
            Basis.RECORDED: "recorded in the paper's repository",
            Basis.SECOND: "second implementation of ours, nothing published is reproduced",
            Basis.BY_HAND: "worked by hand",
        }[self]


@dataclass(frozen=True, slots=True)
class Row:
    """One reference number beside ours.

    Attributes:
        id: Such as "F4".
        basis: Where the reference comes from; None for a row that could not be computed.
        what: The number in a few words.
        reference: The reference number.
        ours: Our number in the same form.
        tolerance: Allowed difference, or "exact".
        passed: Whether ours is within the tolerance.
    """

    id: str
    basis: Basis | None
    what: str
    reference: str
    ours: str
    tolerance: str
    passed: bool


# The rows of one id: the folder of recorded data in, rows out.
MakeRows = Callable[[Path], Iterable[Row]]


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV file of recorded data."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def near(
    id_: str,
    what: str,
    reference: float,
    ours: float | None,
    *,
    basis: Basis,
    tolerance: float,
    digits: int = 3,
) -> Row:
    """A row for one number that may differ by at most `tolerance`; None never passes."""
    return Row(
        id=id_,
        basis=basis,
        what=what,
        reference=fixed(reference, digits),
        ours="no answer" if ours is None else fixed(ours, digits),
        tolerance=f"±{tolerance:g}",
        passed=ours is not None and abs(ours - reference) <= tolerance,
    )


def equal(id_: str, what: str, reference: int, ours: int | None, *, basis: Basis) -> Row:
    """A row for one count that must be equal; None never passes."""
    return Row(
        id=id_,
        basis=basis,
        what=what,
        reference=integer(reference),
        ours="no answer" if ours is None else integer(ours),
        tolerance="exact",
        passed=ours == reference,
    )
