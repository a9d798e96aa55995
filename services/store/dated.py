"""Outcomes by day or month of receipt, for ratings over time: from counters as far as there are any.

With many systems there are nearly as many counters of days as outcomes, so PostgreSQL sends those of a day as
one row of arrays.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Select, String, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Every
from services.store.expected import Moves, dated_moves, moved
from services.store.facets import Range, days_of, months_of
from services.store.outcome_rows import OutcomeRows
from services.store.periods import CountedPair, added
from services.store.tables import OUTCOME_COLUMNS, pair_counters

_NAMES = (pair_counters.c.system_a, pair_counters.c.system_b)
_NUMBERS = [pair_counters.c[name] for name in OUTCOME_COLUMNS]


async def dated_tallies(
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
    moves = await dated_moves(tx, arena, lens, selection, facets) if selection.expected else None
    if facets is None:
        return await _from_rows(tx, arena, lens, selection, moves)
    read = _rows_of_pairs if tx.dialect.name == "sqlite" else _rows_of_arrays
    return [
        (_moment(value), Tally.of_pairs(pairs if moves is None else moved(pairs, moves, value)))
        async for value, pairs in read(tx, arena, lens, facets)
    ]


def _moment(value: str) -> datetime:
    return datetime(int(value[:4]), int(value[4:6]), int(value[6:] or 1), tzinfo=UTC)


async def _from_rows(
    tx: AsyncConnection, arena: str, lens: Lens, selection: Slice, moves: Moves | None
) -> list[tuple[datetime, Tally]]:
    cells = await OutcomeRows(tx).daily_counts(arena, lens, selection)
    days = []
    for day, of_day in groupby(cells, key=lambda dated: dated[0]):
        pairs = added([(1, [cell for _, cell in of_day])])
        expected = pairs if moves is None else moved(pairs, moves, f"{day:%Y%m%d}")
        days.append((day, Tally.of_pairs(expected)))
    return days


def _counted(query: Select[Any], arena: str, lens: Lens, facets: Range) -> Select[Any]:
    counter = pair_counters.c
    query = query.where(counter.arena == arena, counter.lens == lens.value, facets.conditions(pair_counters))
    return query.where(sum(_NUMBERS[1:], _NUMBERS[0]) > 0).order_by(counter.value)


async def _rows_of_pairs(
    tx: AsyncConnection, arena: str, lens: Lens, facets: Range
) -> AsyncIterator[tuple[str, list[CountedPair]]]:
    query = select(pair_counters.c.value, *_NAMES, *_NUMBERS)
    rows = await tx.execute(_counted(query, arena, lens, facets))
    for value, of_value in groupby(rows, key=lambda row: row[0]):
        yield value, [(*row[1:],) for row in of_value]


async def _rows_of_arrays(
    tx: AsyncConnection, arena: str, lens: Lens, facets: Range
) -> AsyncIterator[tuple[str, list[CountedPair]]]:
    names = (func.array_agg(name, type_=ARRAY(String)) for name in _NAMES)
    numbers = (func.array_agg(number, type_=ARRAY(BigInteger)) for number in _NUMBERS)
    query = select(pair_counters.c.value, *names, *numbers).group_by(pair_counters.c.value)
    for row in await tx.execute(_counted(query, arena, lens, facets)):
        yield row[0], list(zip(*row[1:], strict=True))
