"""What model calls cost, for pages: of a battle, and of arenas over days, by stage and model."""

from collections.abc import Collection
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import FromClause, Select, bindparam, func, select

from nuggetstream.views.reruns import RerunCost
from services.store.database import Store
from services.store.spend.spend import BOOKED, WHOLE_DAY, amount_of
from services.store.tables import battles, spend, spend_counters


class CostLine(RerunCost):
    """What the calls of one stage of one model cost, in one currency."""

    arena: str | None = None
    """Arena of the battles; None where the costs are of one battle, or of battles that were deleted before
    they were counted."""


_NUMBERS = ("calls", "input_tokens", "output_tokens", "picos")


def _lines(of: FromClause, *places: str) -> Select[Any]:
    """Sums of booked calls or their counters by stage, model and currency."""
    keys = [of.c[name] for name in (*places, "stage", "model", "currency")]
    sums = (func.sum(of.c[name]).label(name) for name in _NUMBERS)
    return select(*keys, *sums).group_by(*keys).order_by(*keys)


_OF_BATTLE = _lines(BOOKED.where(spend.c.battle_id == bindparam("battle")).subquery())
_OF_STAGES = _lines(
    BOOKED.join(battles, battles.c.id == spend.c.battle_id)
    .where(
        battles.c.arena == bindparam("arena"),
        battles.c.received_at >= bindparam("received"),
        battles.c.ended_at.is_not(None),
        spend.c.stage.in_(bindparam("stages", expanding=True)),
    )
    .subquery()
)
_OF_DAYS = _lines(spend_counters, "arena").where(spend_counters.c.stage != WHOLE_DAY)


class Costs(Store):
    """Reads costs from the database."""

    async def of_battle(self, battle_id: str) -> list[CostLine]:
        """What a battle has cost, by stage and model; empty before the first call.

        Raises:
            Unavailable: the database does not answer.
        """
        return [_line(row) for row in await self._database.rows(_OF_BATTLE, {"battle": battle_id})]

    async def of_stages(self, arena: str, received: datetime, stages: Collection[str]) -> list[CostLine]:
        """What stages have cost for the battles of an arena that were received since a time and have ended.

        Raises:
            Unavailable: the database does not answer.
        """
        values = {"arena": arena, "received": received, "stages": sorted(stages)}
        return [_line(row, arena) for row in await self._database.rows(_OF_STAGES, values)]

    async def first_day(self, since: date = date.min) -> date | None:
        """The first day (UTC) since another one with a battle or a cost; None where there is neither.

        Raises:
            Unavailable: the database does not answer.
        """
        begin = datetime.combine(since, time(), UTC)
        of_battles = select(func.min(battles.c.received_at)).where(battles.c.received_at >= begin)
        received = await self._database.scalar(of_battles)
        of_costs = select(func.min(spend_counters.c.day)).where(spend_counters.c.day >= since)
        day = await self._database.scalar(of_costs)
        days = (None if received is None else received.astimezone(UTC).date(), day)
        return min((first for first in days if first is not None), default=None)

    async def since(
        self, day: date, arenas: Collection[str] | None = None, until: date | None = None
    ) -> list[CostLine]:
        """What the calls since a day (UTC) have cost, by arena, stage and model; read from counters.

        Args:
            day: The first day.
            arenas: Only these arenas; all, and battles that were deleted, when None.
            until: The day after the last one; all days when None.

        Raises:
            Unavailable: the database does not answer.
        """
        query = _OF_DAYS.where(spend_counters.c.day >= day)
        if until is not None:
            query = query.where(spend_counters.c.day < until)
        if arenas is not None:
            query = query.where(spend_counters.c.arena.in_(sorted(arenas)))
        return [_line(row, row.arena or None) for row in await self._database.rows(query)]


def _line(row: Any, arena: str | None = None) -> CostLine:
    return CostLine(
        stage=row.stage,
        model=row.model,
        calls=int(row.calls),
        input_tokens=int(row.input_tokens),
        output_tokens=int(row.output_tokens),
        amount=amount_of(int(row.picos)) if row.currency else None,
        currency=row.currency or None,
        arena=arena,
    )
