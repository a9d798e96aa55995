"""Counts of months and of other periods: exact, and from counters as far as there are any."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from nuggetstream.domain.lens import Lens
from services.store.database import Database
from services.store.outcomes import Outcomes
from services.store.slices import Slice
from tests.integration.store.test_counters import FEBRUARY, MAY, SLICES, Operations


@pytest.mark.parametrize("seed", range(2))
async def test_months_have_the_outcomes_of_their_days(database: Database, seed: int) -> None:
    await Operations(database, seed).several(100)
    outcomes, compared = Outcomes(database), 0
    for lens in Lens:
        for selection in SLICES:
            found, expected = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
            months = await outcomes.monthly_counts("default", lens, selection)
            for day, cell in months:
                found[day.year, day.month, cell.system_a, cell.system_b, cell.winner] += cell.count
            for day, cell in await outcomes.daily_counts("default", lens, selection):
                expected[day.year, day.month, cell.system_a, cell.system_b, cell.winner] += cell.count
            assert found == expected, selection
            assert [day for day, _ in months] == sorted(day for day, _ in months)
            compared += len(found)
    assert compared > 20


async def test_months_are_read_from_counters_and_at_most_half_a_month_from_rows(database: Database) -> None:
    outcomes, reads = Outcomes(database), list[tuple[str, tuple[datetime, ...]]]()

    @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def remember(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool) -> None:
        times = (value for value in values if "outcomes" in statement and _is_time(value))
        reads.append((statement, tuple(sorted(_as_time(value) for value in times))))

    await outcomes.monthly_counts("default", Lens.HUMAN)
    await outcomes.monthly_counts("default", Lens.HUMAN, Slice(since=FEBRUARY, until=MAY))
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
