"""How often systems won, tied and lost: the one reader of counters, and of rows where there are none.

    slice  ->  parts, each added or subtracted  ->  cells: numbers per pair of systems

A part is a range of facets, which counters answer, or a filter of battles, for which rows are read. Without
flagged battles, which are few, the numbers are those of all battles less the rows of the flagged ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ARRAY, BigInteger, Select, String, func, select
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
from services.store.tables import OUTCOME_COLUMNS, lens_counters, pair_counters

Part = Range | Slice
_COUNTER = pair_counters.c


Counted = tuple[str, str, int, int, int, int, int, int]
"""The fields of a `Cell`; of thousands of cells, plain tuples are built faster."""


class Cell(NamedTuple):
    """Outcomes between two systems.

    Attributes:
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        a: Battles that A won.
        b: Battles that B won.
        tie: Ties.
        both_bad: Battles in which both answers are bad.
        shift_a: Expected minus discrete wins of A, in millionths.
        shift_b: Expected minus discrete wins of B.
    """

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


def tally_of_cells(cells: Iterable[Counted], *, expected: bool) -> Tally:
    """The counts as matrices, with outcomes as they are or by their probabilities.

    >>> tally_of_cells([Cell("x", "y", 1, 0, 0, 0, -300_000, 200_000)], expected=True).wins.tolist()
    [[0.0, 0.7], [0.2, 0.0]]
    """
    return Tally.of_pairs([_expected(*cell) if expected else cell[:6] for cell in cells])


def _expected(  # noqa: PLR0917 - the fields of `Cell`
    system_a: str, system_b: str, a: int, b: int, tie: int, both_bad: int, shift_a: int, shift_b: int
) -> tuple[str, str, float, float, float, float]:
    wins_a, wins_b = (a * UNIT + shift_a) / UNIT, (b * UNIT + shift_b) / UNIT
    return (system_a, system_b, wins_a, wins_b, (tie * UNIT - shift_a - shift_b) / UNIT, float(both_bad))


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
    signed: list[tuple[int, Sequence[Cell]]] = []
    for sign, part in _parts(selection):
        cells = await _read(tx, arena, lens, part)
        more = await _totals(tx, arena, lens, part, cells, expected=selection.expected)
        decided, probable = decided + sign * more[0], probable + sign * more[1]
        signed.append((sign, cells))
    return SliceCounts(cells if len(signed) == 1 else _added(signed), decided, probable)


def _added(parts: Iterable[tuple[int, Iterable[Cell]]]) -> list[Cell]:
    """The sums of cells of the same systems, each cell with its sign, as far as there are outcomes left."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(NUMBERS))
    for sign, cells in parts:
        for cell in cells:
            numbers = sums[cell.system_a, cell.system_b]
            numbers[:] = (total + sign * number for total, number in zip(numbers, cell[2:], strict=True))
    added = [Cell(*pair, *numbers) for pair, numbers in sums.items()]
    return [cell for cell in added if cell.outcomes]


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
    return [
        (_moment(period), tally_of_cells(cells, expected=selection.expected))
        for period, cells in await _by_period(tx, arena, lens, facets or selection)
    ]


async def _by_period(
    tx: AsyncConnection, arena: str, lens: Lens, part: Part
) -> list[tuple[str, list[Counted]]]:
    """The cells of each day or month, such as "20260504" or "202605", in order."""
    pairs = [_COUNTER[name] for name in ("system_a", "system_b")]
    numbers = [_COUNTER[name] for name in NUMBERS]
    if isinstance(part, Range) and tx.dialect.name != "sqlite":
        # With many systems there are nearly as many counters of days as outcomes; a day is sent as one row.
        arrays = [func.array_agg(name, type_=ARRAY(String)) for name in pairs]
        arrays += [func.array_agg(number, type_=ARRAY(BigInteger)) for number in numbers]
        query = _of_range(select(_COUNTER.value, *arrays), arena, lens, part).group_by(_COUNTER.value)
        days = await tx.execute(query.order_by(_COUNTER.value))
        return [(day[0], list(zip(*day[1:], strict=True))) for day in days]
    if isinstance(part, Range):
        query = _of_range(select(_COUNTER.value, *pairs, *numbers), arena, lens, part)
        query = query.order_by(_COUNTER.value)
    else:
        query = OutcomeRows(tx).numbers(arena, lens, part, dated=True)
    rows = groupby(await tx.execute(query), itemgetter(0))
    return [(period, [_counted(row[1:]) for row in of_period]) for period, of_period in rows]


def _counted(row: Sequence[Any]) -> Counted:
    """A row as numbers; PostgreSQL adds whole numbers to decimals."""
    return (row[0], row[1], *map(int, row[2:]))


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


async def _read(tx: AsyncConnection, arena: str, lens: Lens, part: Part) -> list[Cell]:
    pair = _COUNTER.system_a, _COUNTER.system_b
    if isinstance(part, Slice):
        query = OutcomeRows(tx).numbers(arena, lens, part)
    elif part.single is not None:
        query = _of_range(select(*pair, *(_COUNTER[name] for name in NUMBERS)), arena, lens, part)
        return [Cell(*row) for row in await tx.execute(query)]
    else:
        query = select(*pair, *(func.sum(_COUNTER[name]) for name in NUMBERS)).group_by(*pair)
        query = _of_range(query, arena, lens, part)
    return [Cell(*_counted(row)) for row in await tx.execute(query)]


def _of_range(query: Select[Any], arena: str, lens: Lens, facets: Range) -> Select[Any]:
    counted = sum((_COUNTER[name] for name in OUTCOME_COLUMNS[1:]), _COUNTER[OUTCOME_COLUMNS[0]]) > 0
    query = query.where(_COUNTER.arena == arena, _COUNTER.lens == lens.value, counted)
    return query.where(facets.conditions(pair_counters))


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
