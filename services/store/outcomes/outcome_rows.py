"""Counts of outcomes by reading their rows: for slices without counters of their own, and to check counters.

Battles of a system against itself are left out, because they do not say which system is better.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Label,
    Select,
    String,
    Subquery,
    case,
    func,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import JUDGED, Lens, source_of_judge
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import JointCount
from services.store.outcomes.consensus import common_rows
from services.store.outcomes.probabilities import UNIT
from services.store.outcomes.slices import conditions_of
from services.store.tables import OUTCOME_COLUMNS, SHIFT_COLUMNS, battles, outcomes

NUMBERS = (*OUTCOME_COLUMNS, *SHIFT_COLUMNS)


class OutcomeRows:
    """The rows of the outcomes table, read in one transaction.

    Args:
        connection: The transaction.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._sqlite = connection.dialect.name == "sqlite"

    def numbers(self, arena: str, lens: Lens, selection: Slice, *, dated: bool = False) -> Select[Any]:
        """A query of the columns of `cells.Cell`, with `dated` after the day (UTC), in order."""
        rows = self._per_battle(arena, selection, lens)
        pair = (rows.c.system_a, rows.c.system_b)
        numbers = [func.sum(cell).label(cell.name) for cell in cells_of_outcome(rows)]
        if not dated:
            return select(*pair, *numbers).group_by(*pair)
        day = utc_text(battles.c.received_at, 10, sqlite=self._sqlite)
        period = func.replace(day, "-", "", type_=String).label("period")
        query = select(period, *pair, *numbers)
        query = query.select_from(rows.join(battles, battles.c.id == rows.c.battle_id))
        return query.group_by(period, *pair).order_by(period)

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

    @staticmethod
    def has_several(lens: Lens, selection: Slice) -> bool:
        """Whether a battle may have several outcomes in a lens, those of several judges."""
        return lens in JUDGED and selection.evaluator is None

    def _per_battle(self, arena: str, selection: Slice, lens: Lens) -> Subquery:
        """The outcomes of a slice, one per battle and pair of systems."""
        rows = common_rows() if self.has_several(lens, selection) else select(outcomes)
        return self._counted(rows, arena, selection, lens).subquery()

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


def cells_of_outcome(rows: FromClause) -> list[Label[int]]:
    """What outcomes add to the numbers of their pair of systems, by name of the number."""
    cells = [case((rows.c.winner == name, 1), else_=0).label(name) for name in OUTCOME_COLUMNS]
    return [*cells, *(_shift_of(name, rows).label(f"shift_{name}") for name in ("a", "b"))]


def _shift_of(winner: str, rows: FromClause) -> ColumnElement[int]:
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
