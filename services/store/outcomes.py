"""Outcomes: the winner of each battle according to each source. Ratings are computed from their counts.

The key is (battle, source), so a message handled twice or a vote cast again replaces its row and adds none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, String, case, func, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.counts import JointCount, PairCount
from services.store.database import Database
from services.store.slices import EVERYTHING, Slice
from services.store.tables import battles, outcomes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The preference of one source about one battle.

    Attributes:
        battle_id: Id of the battle.
        source: Source of the preference: "human", "nugget" or "judge:<evaluator>".
        lens: Lens that the source belongs to.
        arena: Arena of the battle.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        winner: The preference.
        margin: Difference of the nugget scores, A minus B; None where the lens has no margin.
        decided_at: When the source decided; its newest decision counts.
    """

    battle_id: str
    source: str
    lens: Lens
    arena: str
    system_a: str
    system_b: str
    winner: Vote
    margin: float | None
    decided_at: datetime


class Outcomes:
    """The outcomes table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, outcome: Outcome) -> None:
        """Store an outcome unless a newer one of the same source is stored."""
        statement = self._database.upsert(
            outcomes,
            ["battle_id", "source"],
            where=lambda new: outcomes.c.decided_at <= new.decided_at,
        )
        row = {name: getattr(outcome, name) for name in Outcome.__slots__}
        row |= {"lens": outcome.lens.value, "winner": outcome.winner.value}
        async with self._database.transaction() as tx:
            await tx.execute(statement.values(row))

    async def pair_counts(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> list[PairCount]:
        """Number of outcomes per pair of systems and winner, sorted by system A, system B and winner.

        Battles of a system against itself are left out here and in all counts below, because they do not say
        which system is better.
        """
        keys = (outcomes.c.system_a, outcomes.c.system_b, outcomes.c.winner)
        query = self._counted(select(*keys, func.count().label("battles")), arena, selection, lens)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.group_by(*keys).order_by(*keys))
            return [PairCount(r.system_a, r.system_b, Vote(r.winner), r.battles) for r in rows]

    async def daily_counts(
        self, arena: str, lens: Lens, selection: Slice = EVERYTHING
    ) -> list[tuple[datetime, PairCount]]:
        """Number of outcomes per day of receipt (in UTC), pair of systems and winner, oldest day first."""
        received = battles.c.received_at
        if self._database.is_sqlite:
            day = func.substr(received, 1, 10, type_=String)
        else:
            day = func.to_char(func.timezone("UTC", received), "YYYY-MM-DD", type_=String)
        keys = (day.label("day"), outcomes.c.system_a, outcomes.c.system_b, outcomes.c.winner)
        query = self._counted(select(*keys, func.count().label("battles")), arena, selection, lens)
        if not selection.conditions(sqlite=self._database.is_sqlite):
            query = query.join(battles, battles.c.id == outcomes.c.battle_id)
        columns = [*keys[1:]]
        query = query.group_by("day", *columns).order_by("day", *columns)
        async with self._database.transaction() as tx:
            return [
                (
                    datetime.fromisoformat(row.day).replace(tzinfo=UTC),
                    PairCount(row.system_a, row.system_b, Vote(row.winner), row.battles),
                )
                for row in await tx.execute(query)
            ]

    async def joint_counts(
        self, arena: str, first: Lens, second: Lens, selection: Slice = EVERYTHING
    ) -> list[JointCount]:
        """Number of battles per pair of systems and pair of outcomes in two lenses.

        Battles without an outcome in either lens are left out. Where a lens has several sources for one
        battle, the first by name counts.
        """
        keys = (outcomes.c.battle_id, outcomes.c.system_a, outcomes.c.system_b)
        source_number = func.row_number().over(
            partition_by=(outcomes.c.battle_id, outcomes.c.lens), order_by=outcomes.c.source
        )
        columns = select(*keys, outcomes.c.lens, outcomes.c.winner, source_number.label("source_number"))
        rows = self._counted(columns, arena, selection, first, second).subquery()
        of_lens = [func.max(case((rows.c.lens == lens.value, rows.c.winner))) for lens in (first, second)]
        battle = (
            select(rows.c.system_a, rows.c.system_b, of_lens[0].label("first"), of_lens[1].label("second"))
            .where(rows.c.source_number == 1)
            .group_by(rows.c.battle_id, rows.c.system_a, rows.c.system_b)
            .subquery()
        )
        cells = (battle.c.system_a, battle.c.system_b, battle.c.first, battle.c.second)
        query = select(*cells, func.count().label("battles")).group_by(*cells).order_by(*cells)
        async with self._database.transaction() as tx:
            return [_joint(row) for row in await tx.execute(query)]

    async def battles_decided(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> int:
        """Number of battles with an outcome in a lens, from one or more sources."""
        query = self._counted(select(func.count(outcomes.c.battle_id.distinct())), arena, selection, lens)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def of_battle(self, battle_id: str) -> list[Outcome]:
        """All outcomes of one battle."""
        query = select(outcomes).where(outcomes.c.battle_id == battle_id).order_by(outcomes.c.source)
        async with self._database.transaction() as tx:
            return [_outcome(row._mapping) for row in await tx.execute(query)]

    async def of_battles(self, battle_ids: Sequence[str]) -> dict[str, list[Outcome]]:
        """All outcomes of the given battles, by battle id; for a page of battles, not for thousands."""
        query = select(outcomes).where(outcomes.c.battle_id.in_(battle_ids)).order_by(outcomes.c.source)
        by_battle: dict[str, list[Outcome]] = {battle_id: [] for battle_id in battle_ids}
        async with self._database.transaction() as tx:
            for row in await tx.execute(query):
                by_battle[row.battle_id].append(_outcome(row._mapping))
        return by_battle

    async def count(self, arena: str) -> int:
        """Number of outcomes of an arena, over all lenses."""
        query = select(func.count()).select_from(outcomes).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def counts(self, arena: str) -> dict[Lens, int]:
        """Number of outcomes of an arena in each lens."""
        query = select(outcomes.c.lens, func.count()).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.group_by(outcomes.c.lens))
            by_lens: dict[str, int] = {row[0]: row[1] for row in rows}
        return {lens: by_lens.get(lens.value, 0) for lens in Lens}

    def _counted(self, query: Select[Any], arena: str, selection: Slice, *lenses: Lens) -> Select[Any]:
        """Restrict a query to an arena, a slice and lenses, without battles of a system against itself."""
        if conditions := selection.conditions(sqlite=self._database.is_sqlite):
            query = query.join(battles, battles.c.id == outcomes.c.battle_id).where(*conditions)
        return query.where(
            outcomes.c.arena == arena,
            outcomes.c.lens.in_([lens.value for lens in lenses]),
            outcomes.c.system_a != outcomes.c.system_b,
        )


def _joint(row: Any) -> JointCount:
    first, second = (None if winner is None else Vote(winner) for winner in (row.first, row.second))
    return JointCount(row.system_a, row.system_b, first, second, row.battles)


def _outcome(values: object) -> Outcome:
    row = dict(values)  # type: ignore[call-overload]
    return Outcome(**row | {"lens": Lens(row["lens"]), "winner": Vote(row["winner"])})
