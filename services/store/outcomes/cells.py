"""How often systems won, tied and lost: the one reader of counters, and of rows where there are none.

    slice  ->  parts, each added or subtracted  ->  cells: numbers per pair of systems (and period)

A part is a range of facets, which counters answer, or a filter of battles, for which rows are read. Without
flagged battles, which are few, the numbers are those of all battles less the rows of the flagged ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ARRAY, BigInteger, Select, String, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Every
from services.store.outcomes.facets import Range, days_of, months_of, range_of
from services.store.outcomes.outcome_rows import NUMBERS, OutcomeRows
from services.store.outcomes.periods import SignedPart, period_of
from services.store.outcomes.probabilities import UNIT
from services.store.tables import lens_counters, pair_counters

Part = Range | Slice
_COUNTER = pair_counters.c


class Cell(NamedTuple):
    """Outcomes between two systems.

    Attributes:
        period: Day or month, such as "20260504"; empty for all time.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        a: Battles that A won.
        b: Battles that B won.
        tie: Ties.
        both_bad: Battles in which both answers are bad.
        shift_a: Expected minus discrete wins of A, in millionths.
        shift_b: Expected minus discrete wins of B.
    """

    period: str
    system_a: str
    system_b: str
    a: int
    b: int
    tie: int
    both_bad: int
    shift_a: int
    shift_b: int

    @property
    def outcomes(self) -> int:
        """Number of outcomes."""
        return self.a + self.b + self.tie + self.both_bad

    def counts(self, *, expected: bool) -> tuple[str, str, float, float, float, float]:
        """The systems, and wins of A, wins of B, ties and "both bad", as they are or by their probabilities.

        >>> Cell("", "x", "y", 1, 0, 0, 0, -300_000, 200_000).counts(expected=True)
        ('x', 'y', 0.7, 0.2, 0.1, 0.0)
        """
        if not expected:
            return (self.system_a, self.system_b, self.a, self.b, self.tie, self.both_bad)
        wins_a, wins_b = (self.a * UNIT + self.shift_a) / UNIT, (self.b * UNIT + self.shift_b) / UNIT
        ties = (self.tie * UNIT - self.shift_a - self.shift_b) / UNIT
        return (self.system_a, self.system_b, wins_a, wins_b, ties, float(self.both_bad))


class SliceCounts(NamedTuple):
    """What is counted of a slice.

    Attributes:
        cells: Outcomes per pair of systems; only pairs that have one.
        decided: Number of battles with an outcome, from one or more sources.
        probable: Number of outcomes with known probabilities; 0 unless the slice counts by them.
    """

    cells: Sequence[Cell]
    decided: int
    probable: int


def tally_of_cells(cells: Iterable[Cell], *, expected: bool) -> Tally:
    """The counts as matrices, with outcomes as they are or by their probabilities."""
    return Tally.of_pairs([cell.counts(expected=expected) for cell in cells])


async def read_counts(tx: AsyncConnection, arena: str, lens: Lens, selection: Slice) -> SliceCounts:
    """Count the outcomes of a slice in one lens.

    Args:
        tx: A transaction that sees one moment.
        arena: Arena of the battles.
        lens: Whose outcomes.
        selection: Filter of the battles.
    """
    selection = selection.of(lens)
    decided = probable = 0
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(NUMBERS))
    for sign, part in _parts(selection):
        cells = await _read(tx, arena, lens, part)
        for cell in cells:
            numbers = sums[cell.system_a, cell.system_b]
            numbers[:] = (total + sign * number for total, number in zip(numbers, cell[3:], strict=True))
        more = await _totals(tx, arena, lens, part, cells, expected=selection.expected)
        decided, probable = decided + sign * more[0], probable + sign * more[1]
    cells = [Cell("", *pair, *numbers) for pair, numbers in sums.items()]
    return SliceCounts([cell for cell in cells if cell.outcomes], decided, probable)


async def read_dated(
    tx: AsyncConnection, arena: str, lens: Lens, selection: Slice, every: Every
) -> list[tuple[datetime, Tally]]:
    """Outcomes per day of receipt (in UTC), or per month if that is enough, the oldest first.

    Args:
        tx: The transaction.
        arena: Arena of the battles.
        lens: Whose outcomes.
        selection: Filter of the battles. With other conditions, or parts of days, they are counted from rows.
        every: Periods into which the result can be divided.
    """
    selection = selection.of(lens)
    facets = months_of(selection) if every is Every.MONTH else days_of(selection)
    cells = await _read(tx, arena, lens, facets or selection, dated=True)
    return [
        (_moment(period), tally_of_cells(of_period, expected=selection.expected))
        for period, of_period in groupby((cell for cell in cells if cell.outcomes), lambda cell: cell.period)
    ]


def _moment(value: str) -> datetime:
    return datetime(int(value[:4]), int(value[4:6]), int(value[6:] or 1), tzinfo=UTC)


def _parts(selection: Slice) -> list[SignedPart]:
    """What adds up to a slice, each with its sign."""
    if selection.flagged is Flagged.EXCLUDE:
        every, flagged = (selection.having(flagged) for flagged in (Flagged.INCLUDE, Flagged.ONLY))
        return [*_parts(every), (-1, flagged)]
    if (facets := range_of(selection)) is not None:
        return [(1, facets)]
    return period_of(selection) or [(1, selection)]


async def _read(
    tx: AsyncConnection, arena: str, lens: Lens, part: Part, *, dated: bool = False
) -> list[Cell]:
    if isinstance(part, Slice):
        rows = await tx.execute(OutcomeRows(tx).numbers(arena, lens, part, dated=dated))
    elif dated and tx.dialect.name != "sqlite":
        # With many systems there are nearly as many counters of days as outcomes; a day is sent as one row.
        names = (func.array_agg(_COUNTER[name], type_=ARRAY(String)) for name in ("system_a", "system_b"))
        numbers = (func.array_agg(_COUNTER[name], type_=ARRAY(BigInteger)) for name in NUMBERS)
        query = _of_range(select(_COUNTER.value, *names, *numbers), arena, lens, part)
        days = await tx.execute(query.group_by(_COUNTER.value).order_by(_COUNTER.value))
        return [Cell(day[0], *row) for day in days for row in zip(*day[1:], strict=True)]
    elif dated or part.single is not None:
        period = _COUNTER.value if dated else literal("")
        query = select(period, _COUNTER.system_a, _COUNTER.system_b, *(_COUNTER[name] for name in NUMBERS))
        query = _of_range(query, arena, lens, part)
        rows = await tx.execute(query.order_by(_COUNTER.value) if dated else query)
    else:
        pair = _COUNTER.system_a, _COUNTER.system_b
        query = select(literal(""), *pair, *(func.sum(_COUNTER[name]) for name in NUMBERS)).group_by(*pair)
        rows = await tx.execute(_of_range(query, arena, lens, part))
    return [Cell(*row[:3], *map(int, row[3:])) for row in rows]


def _of_range(query: Select[Any], arena: str, lens: Lens, facets: Range) -> Select[Any]:
    return query.where(_COUNTER.arena == arena, _COUNTER.lens == lens.value, facets.conditions(pair_counters))


async def _totals(
    tx: AsyncConnection, arena: str, lens: Lens, part: Part, cells: Sequence[Cell], *, expected: bool
) -> tuple[int, int]:
    """Battles with an outcome, and outcomes with known probabilities."""
    if isinstance(part, Range):
        counter = lens_counters.c
        query = select(func.sum(counter.decided), func.sum(counter.probable))
        query = query.where(counter.arena == arena, counter.lens == lens.value)
        decided, probable = (await tx.execute(query.where(part.conditions(lens_counters)))).one()
        return int(decided or 0), int(probable or 0)
    rows = OutcomeRows(tx)
    several = rows.has_several(lens, part)
    decided = await rows.decided(arena, lens, part) if several else sum(cell.outcomes for cell in cells)
    return decided, await rows.probable(arena, lens, part) if expected else 0
