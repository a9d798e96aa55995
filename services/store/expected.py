"""Outcomes counted by their probabilities: discrete counts, moved by what the probabilities change.

wins of A  =  battles that A won  +  expected minus discrete wins of A, and for B in the same way
ties       =  ties  -  both differences, since the probabilities of an outcome add up to 1
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from services.store.facets import Range, range_of
from services.store.outcome_rows import OutcomeRows, Shift
from services.store.periods import CountedPair, period_of
from services.store.probabilities import UNIT
from services.store.tables import lens_counters, pair_counters

Moves = dict[tuple[str, str, str], tuple[int, int]]
ExpectedPair = tuple[str, str, float, float, float, float]


async def expected_pairs(
    tx: AsyncConnection, arena: str, lens: Lens, selection: Slice, pairs: Sequence[CountedPair]
) -> tuple[list[ExpectedPair], int]:
    """Discrete counts of a slice as expected ones, and the number of outcomes with known probabilities."""
    rows = OutcomeRows(tx)
    if (facets := range_of(selection)) is not None:
        moves = _moves((1, shift) for shift in await _counted_shifts(tx, arena, lens, facets))
        return moved(pairs, moves), await _counted_probable(tx, arena, lens, facets)
    period = period_of(selection)
    if period is None:
        moves = _moves((1, shift) for shift in await rows.shifts(arena, lens, selection))
        return moved(pairs, moves), await rows.probable(arena, lens, selection)
    signed = [(1, shift) for shift in await _counted_shifts(tx, arena, lens, period.months)]
    probable = await _counted_probable(tx, arena, lens, period.months)
    for sign, time in period.rows:
        signed += [(sign, shift) for shift in await rows.shifts(arena, lens, time)]
        probable += sign * await rows.probable(arena, lens, time)
    return moved(pairs, _moves(signed)), probable


async def dated_moves(
    tx: AsyncConnection, arena: str, lens: Lens, selection: Slice, facets: Range | None
) -> Moves:
    """Expected minus discrete wins by day or month and pair of systems.

    Args:
        tx: The transaction.
        arena: Arena of the battles.
        lens: Whose outcomes.
        selection: Filter of the battles.
        facets: The days or months that the slice consists of; None to read days from the rows.
    """
    if facets is None:
        shifts = await OutcomeRows(tx).shifts(arena, lens, selection, daily=True)
    else:
        shifts = await _counted_shifts(tx, arena, lens, facets)
    return _moves(((1, shift) for shift in shifts), dated=True)


def moved(pairs: Iterable[CountedPair], moves: Moves, period: str = "") -> list[ExpectedPair]:
    """Counts of pairs with the differences of a period added.

    >>> moved([("x", "y", 1, 0, 0, 0)], {("", "x", "y"): (-300_000, 200_000)})
    [('x', 'y', 0.7, 0.2, 0.1, 0.0)]
    """
    expected = []
    for system_a, system_b, a, b, tie, both_bad in pairs:
        shift_a, shift_b = moves.get((period, system_a, system_b), (0, 0))
        wins_a, wins_b = (a * UNIT + shift_a) / UNIT, (b * UNIT + shift_b) / UNIT
        ties = (tie * UNIT - shift_a - shift_b) / UNIT
        expected.append((system_a, system_b, wins_a, wins_b, ties, float(both_bad)))
    return expected


def _moves(signed: Iterable[tuple[int, Shift]], *, dated: bool = False) -> Moves:
    first: Counter[tuple[str, str, str]] = Counter()
    second: Counter[tuple[str, str, str]] = Counter()
    for sign, shift in signed:
        key = (shift.period if dated else "", shift.system_a, shift.system_b)
        first[key] += sign * shift.a
        second[key] += sign * shift.b
    return {key: (first[key], second[key]) for key in first}


async def _counted_shifts(tx: AsyncConnection, arena: str, lens: Lens, facets: Range) -> list[Shift]:
    counter = pair_counters.c
    columns = (counter.value, counter.system_a, counter.system_b, counter.shift_a, counter.shift_b)
    where = (counter.arena == arena, counter.lens == lens.value, facets.conditions(pair_counters))
    query = select(*columns).where(*where, (counter.shift_a != 0) | (counter.shift_b != 0))
    return [Shift(*row) for row in await tx.execute(query)]


async def _counted_probable(tx: AsyncConnection, arena: str, lens: Lens, facets: Range) -> int:
    counter = lens_counters.c
    query = select(func.sum(counter.probable)).where(counter.arena == arena, counter.lens == lens.value)
    return int(await tx.scalar(query.where(facets.conditions(lens_counters))) or 0)
