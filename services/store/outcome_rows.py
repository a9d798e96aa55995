"""Counts of outcomes by reading their rows: for slices without counters of their own, and to check counters.

Battles of a system against itself are left out, because they do not say which system is better.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, String, Subquery, case, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import JUDGED, Lens, source_of_judge
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import JointCount, PairCount
from services.store.consensus import common_rows
from services.store.outcome import Outcome, outcome_of_row
from services.store.probabilities import UNIT
from services.store.slices import conditions_of
from services.store.tables import battles, outcomes


class Shift(NamedTuple):
    """Expected minus discrete wins between two systems, in millionths.

    Attributes:
        period: Day or month, such as "20260504"; empty for all time.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        a: Difference of the wins of A.
        b: Difference of the wins of B.
    """

    period: str
    system_a: str
    system_b: str
    a: int
    b: int


class OutcomeRows:
    """The rows of the outcomes table, read in one transaction.

    Args:
        connection: The transaction.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._sqlite = connection.dialect.name == "sqlite"

    async def pair_counts(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> list[PairCount]:
        """Number of battles per pair of systems and common outcome of their judges."""
        row = self._per_battle(arena, selection, lens).c
        keys = (row.system_a, row.system_b, row.winner)
        rows = await self._connection.execute(select(*keys, func.count().label("battles")).group_by(*keys))
        return [PairCount(r.system_a, r.system_b, Vote(r.winner), r.battles) for r in rows]

    async def counts(self, arena: str, lens: Lens, selection: Slice) -> tuple[list[PairCount], int]:
        """Number of battles per pair of systems and common outcome, and of battles with any outcome."""
        cells = await self.pair_counts(arena, lens, selection)
        if lens in JUDGED and selection.evaluator is None:  # a battle may have several verdicts
            return cells, await self.decided(arena, lens, selection)
        return cells, sum(cell.count for cell in cells)

    async def daily_counts(
        self, arena: str, lens: Lens, selection: Slice = EVERYTHING
    ) -> list[tuple[datetime, PairCount]]:
        """Number of battles per day of receipt (in UTC), pair of systems and outcome, oldest day first."""
        day = utc_text(battles.c.received_at, 10, sqlite=self._sqlite)
        rows = self._per_battle(arena, selection, lens)
        keys = (day.label("day"), rows.c.system_a, rows.c.system_b, rows.c.winner)
        query = select(*keys, func.count().label("battles"))
        query = query.select_from(rows.join(battles, battles.c.id == rows.c.battle_id))
        columns = [*keys[1:]]
        query = query.group_by("day", *columns).order_by("day", *columns)
        return [
            (
                datetime.fromisoformat(row.day).replace(tzinfo=UTC),
                PairCount(row.system_a, row.system_b, Vote(row.winner), row.battles),
            )
            for row in await self._connection.execute(query)
        ]

    async def shifts(self, arena: str, lens: Lens, selection: Slice, *, daily: bool = False) -> list[Shift]:
        """Expected minus discrete wins per pair of systems, and with `daily` per day of receipt (in UTC)."""
        period = utc_text(battles.c.received_at, 10, sqlite=self._sqlite) if daily else literal("")
        told = self._per_battle(arena, selection, lens)
        keys = (period.label("period"), told.c.system_a, told.c.system_b)
        query = select(*keys, *(func.sum(shift_of(winner, told)) for winner in ("a", "b")))
        if daily:
            query = query.select_from(told.join(battles, battles.c.id == told.c.battle_id))
        query = query.where(told.c.probability_a.is_not(None)).group_by(*keys)
        rows = await self._connection.execute(query)
        return [Shift(row[0].replace("-", ""), row[1], row[2], int(row[3]), int(row[4])) for row in rows]

    async def probable(self, arena: str, lens: Lens, selection: Slice) -> int:
        """Number of outcomes with known probabilities."""
        rows = self._per_battle(arena, selection, lens)
        query = select(func.count(rows.c.probability_a))
        return int(await self._connection.scalar(query) or 0)

    async def joint_counts(
        self, arena: str, first: Lens, second: Lens, selection: Slice = EVERYTHING
    ) -> list[JointCount]:
        """Number of battles per pair of systems and pair of outcomes in two lenses."""
        columns = select(outcomes.c.battle_id, outcomes.c.system_a, outcomes.c.system_b, outcomes.c.lens)
        numbered = columns.add_columns(outcomes.c.winner, source_number(sqlite=self._sqlite))
        rows = self._counted(numbered, arena, selection, first, second).subquery()
        of_lens = [func.max(case((rows.c.lens == lens.value, rows.c.winner))) for lens in (first, second)]
        battle = (
            select(rows.c.system_a, rows.c.system_b, of_lens[0].label("first"), of_lens[1].label("second"))
            .where(rows.c.source_number == 1)
            .group_by(rows.c.battle_id, rows.c.system_a, rows.c.system_b)
            .subquery()
        )
        cells = (battle.c.system_a, battle.c.system_b, battle.c.first, battle.c.second)
        query = select(*cells, func.count().label("battles")).group_by(*cells)
        return [_joint(row) for row in await self._connection.execute(query)]

    async def sources_totals(
        self, arena: str, first: str, second: str, selection: Slice = EVERYTHING
    ) -> dict[tuple[Vote | None, Vote | None], int]:
        """Number of battles per pair of outcomes of two judges that both have one.

        Args:
            arena: Arena of the battles.
            first: Source of the outcomes of the one.
            second: Source of the outcomes of the other.
            selection: Filter of the battles.
        """
        other = outcomes.alias("other")
        same_battle = (
            (other.c.battle_id == outcomes.c.battle_id)
            & (other.c.source == second)
            & (other.c.system_a == outcomes.c.system_a)
            & (other.c.system_b == outcomes.c.system_b)
        )
        cells = (outcomes.c.winner.label("first"), other.c.winner.label("second"))
        query = select(*cells, func.count().label("battles")).join(other, same_battle)
        query = query.where(outcomes.c.source == first, other.c.arena == arena)
        query = self._counted(query, arena, selection.of(), *Lens).group_by(*cells)
        rows = await self._connection.execute(query)
        return {(Vote(row.first), Vote(row.second)): row.battles for row in rows}

    async def decided(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> int:
        """Number of battles with an outcome in a lens, from one or more sources."""
        query = self._counted(select(func.count(outcomes.c.battle_id.distinct())), arena, selection, lens)
        return int(await self._connection.scalar(query) or 0)

    def _per_battle(self, arena: str, selection: Slice, lens: Lens) -> Subquery:
        """The outcomes of a slice, one per battle and pair of systems."""
        if lens in JUDGED and selection.evaluator is None:  # a battle may have several verdicts
            return self._counted(common_rows(), arena, selection, lens).subquery()
        return self._counted(select(outcomes), arena, selection, lens).subquery()

    def _counted(self, query: Select[Any], arena: str, selection: Slice, *lenses: Lens) -> Select[Any]:
        """Restrict a query to an arena, a slice and lenses, without battles of a system against itself."""
        if selection.evaluator is not None:
            sources = [source_of_judge(selection.evaluator, lens) for lens in JUDGED]
            query = query.where(or_(outcomes.c.lens.not_in(JUDGED), outcomes.c.source.in_(sources)))
        if conditions := conditions_of(selection, sqlite=self._sqlite):
            query = query.join(battles, battles.c.id == outcomes.c.battle_id).where(*conditions)
        return query.where(
            outcomes.c.arena == arena,
            outcomes.c.lens.in_([lens.value for lens in lenses]),
            outcomes.c.system_a != outcomes.c.system_b,
        )


async def outcomes_of_battle(tx: AsyncConnection, battle_id: str) -> list[Outcome]:
    """All outcomes of one battle, sorted by source."""
    query = select(outcomes).where(outcomes.c.battle_id == battle_id).order_by(outcomes.c.source)
    return [outcome_of_row(row) for row in await tx.execute(query)]


def shift_of(winner: str, rows: FromClause = outcomes) -> ColumnElement[int]:
    """Expected minus discrete wins of A or B of an outcome, in millionths; 0 without known probabilities."""
    probability = rows.c[f"probability_{winner}"]
    discrete = case((rows.c.winner == winner, UNIT), else_=0)
    return case((probability.is_not(None), probability - discrete), else_=0)


def source_number(*, sqlite: bool) -> ColumnElement[int]:
    """The number of an outcome among those of its battle and lens, by the name of the source, from 1."""
    source = outcomes.c.source if sqlite else outcomes.c.source.collate("C")  # as Python compares texts
    battle = (outcomes.c.arena, outcomes.c.battle_id, outcomes.c.lens)
    return func.row_number().over(partition_by=battle, order_by=source).label("source_number")


def utc_text(moment: ColumnElement[datetime], length: int, *, sqlite: bool) -> ColumnElement[str]:
    """The first characters of a moment in UTC, such as 10 for "2026-05-04"."""
    text = moment if sqlite else func.to_char(func.timezone("UTC", moment), "YYYY-MM-DD", type_=String)
    return func.substr(text, 1, length, type_=String)


def _joint(row: Any) -> JointCount:
    first, second = (None if winner is None else Vote(winner) for winner in (row.first, row.second))
    return JointCount(row.system_a, row.system_b, first, second, row.battles)
