"""Counts of months and of other periods: exact, and from counters as far as there are any."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Every
from services.store.database import Database
from services.store.outcomes.cells import tally_of_cells
from services.store.outcomes.outcomes import Outcomes
from tests.databases import engines_of
from tests.integration.store.test_counters import FEBRUARY, MAY, SLICES, Operations
from tests.stored import daily_counts_of_rows


def cells(day: object, tally: Tally) -> Counter[tuple[object, ...]]:
    """The counts that are not zero, by day, systems and outcome; of ties once per pair."""
    found = Counter[tuple[object, ...]]()
    for outcome, counts in (
        ("won", tally.wins),
        ("tied", np.triu(tally.ties)),
        ("bad", np.triu(tally.both_bad)),
    ):
        for i, j in zip(*np.nonzero(counts), strict=True):
            found[day, tally.systems[i], tally.systems[j], outcome] += int(counts[i, j])
    return found


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
async def test_days_and_months_have_the_outcomes_of_their_rows(database: Database, seed: int) -> None:
    await Operations(database, seed).several(100)
    outcomes, compared = Outcomes(database), 0
    for lens in Lens:
        for selection in SLICES:
            days, months = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
            async with database.transaction() as tx:
                rows = await daily_counts_of_rows(tx, "default", lens, selection)
            for of_day, cell in rows:
                day = datetime.strptime(of_day, "%Y%m%d").replace(tzinfo=UTC)
                tally = tally_of_cells([cell], expected=False)
                days += cells(day, tally)
                months += cells(day.replace(day=1), tally)
            dated = await outcomes.dated("default", lens, selection)
            assert sum((cells(*part) for part in dated), Counter()) == days, selection
            assert [day for day, _ in dated] == sorted({day for day, _ in dated})
            by_month = await outcomes.dated("default", lens, selection, Every.MONTH)
            total = Counter[tuple[object, ...]]()
            for day, tally in by_month:
                total += cells(day.replace(day=1), tally)
            assert total == months, selection
            compared += len(days)
    assert compared > 20


async def test_days_and_months_are_read_from_counters_and_at_most_half_a_month_from_rows(
    database: Database,
) -> None:
    outcomes, reads = Outcomes(database), list[tuple[str, tuple[datetime, ...]]]()

    def remember(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool) -> None:
        times = (value for value in values if "outcomes" in statement and _is_time(value))
        reads.append((statement, tuple(sorted(_as_time(value) for value in times))))

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)

    for every in Every:
        await outcomes.dated("default", Lens.HUMAN, every=every)
        await outcomes.dated("default", Lens.HUMAN, Slice(since=FEBRUARY, until=MAY), every)
    await outcomes.dated("default", Lens.HUMAN, Slice(since=FEBRUARY + timedelta(days=3)))
    assert [statement for statement, _ in reads if "FROM pair_counters" in statement]
    assert not [statement for statement, _ in reads if "FROM outcomes" in statement]
    for days in (3, 12, 17, 27):
        reads.clear()
        bounds = FEBRUARY + timedelta(days=days, hours=1), MAY + timedelta(days=days)
        await outcomes.lens_counts("default", Lens.HUMAN, Slice(since=bounds[0], until=bounds[1]))
        assert [statement for statement, _ in reads if "FROM pair_counters" in statement]
        spans = [times for statement, times in reads if "FROM outcomes" in statement]
        assert spans
        assert all(len(times) == 2 and times[1] - times[0] < timedelta(days=16) for times in spans)


def _is_time(value: object) -> bool:
    return isinstance(value, datetime) or (isinstance(value, str) and value[:5] == "2026-")


def _as_time(value: datetime | str) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
