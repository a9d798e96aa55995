"""The boards of several lenses side by side: one row per system, in the order of one column.

a board per lens, a column  ->  rows with the standing of each lens and the difference of their ranks
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.ratings.standing import Standing
from nuggetstream.views.ratings import BoardView


class Sort(StrEnum):
    """The column that orders the rows."""

    HUMAN = "human"
    NUGGET = "nugget"
    GROUNDED = "grounded"
    JUDGE = "judge"
    DIFFERENCE = "difference"
    SYSTEM = "system"


class Order(StrEnum):
    """The direction of that column, as the attribute `aria-sort` names it."""

    ASCENDING = "ascending"
    DESCENDING = "descending"

    @property
    def reverse(self) -> "Order":
        """The other direction."""
        return Order.DESCENDING if self is Order.ASCENDING else Order.ASCENDING

    @classmethod
    def usual(cls, sort: Sort) -> "Order":
        """The direction of a column that was not turned: names from A to Z, numbers from the greatest."""
        return cls.ASCENDING if sort is Sort.SYSTEM else cls.DESCENDING


@dataclass(frozen=True, slots=True)
class Row:
    """One system.

    Attributes:
        system: Its name.
        standings: Its standing on each board, in their order; None where it is on no such board.
    """

    system: str
    standings: tuple[Standing | None, ...]

    @property
    def difference(self) -> int | None:
        """Greatest difference of its ranks; None with fewer than two ranks."""
        ranks = [one.rank for one in self.standings if one is not None and one.rank is not None]
        return max(ranks) - min(ranks) if len(ranks) > 1 else None


def rows_of(boards: Sequence[BoardView], sort: Sort, order: Order) -> list[Row]:
    """The systems of all boards; those without a rating or difference last in both directions.

    Args:
        boards: One board per lens.
        sort: Column that orders the rows; ties follow the alphabet.
        order: Its direction.
    """
    by_lens = [{standing.system: standing for standing in board.standings} for board in boards]
    systems = sorted({system for standings in by_lens for system in standings})
    rows = [Row(system, tuple(standings.get(system) for standings in by_lens)) for system in systems]
    column = next((number for number, board in enumerate(boards) if board.lens.value == sort), None)

    def value(row: Row) -> float | None:
        if sort is Sort.DIFFERENCE:
            return row.difference
        standing = None if column is None else row.standings[column]
        return None if standing is None else standing.rating

    sign = 1.0 if order is Order.ASCENDING else -1.0
    if sort is Sort.SYSTEM:
        return rows[:: int(sign)]
    return sorted(rows, key=lambda row: (value(row) is None, sign * (value(row) or 0.0)))
