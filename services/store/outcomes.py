"""Who won, per battle and source of judgment. Ratings are counted from here.

The key is (battle, source): a message handled twice, or a vote cast again, replaces its own row and
never adds one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.counts import JointCount, PairCount
from services.store.database import Database
from services.store.slices import EVERYTHING, Slice
from services.store.tables import battles, outcomes


@dataclass(frozen=True, slots=True)
class Outcome:
    """One preference about one battle.

    Attributes:
        source: who says so: "human", "nugget", or "judge:<evaluator>".
        margin: difference of the nugget scores, A minus B; None where the lens has no margin.
        decided_at: the newest decision of a source counts.
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
        """Note an outcome; of two from the same source the newer stays."""
        statement = self._database.upsert(
            outcomes,
            ["battle_id", "source"],
            where=lambda new: outcomes.c.decided_at <= new.decided_at,
        )
        row = {name: getattr(outcome, name) for name in Outcome.__slots__}
        row |= {"lens": outcome.lens.value, "winner": outcome.winner.value}
        async with self._database.transaction() as tx:
            await tx.execute(statement.values(row))

    async def pair_counts(self, arena: str, lens: Lens, among: Slice = EVERYTHING) -> list[PairCount]:
        """The outcomes of one board, aggregated; systems in alphabetical order of the query.

        A battle of a system against itself says nothing about who is better, and is left out here as
        in every count below.
        """
        keys = (outcomes.c.system_a, outcomes.c.system_b, outcomes.c.winner)
        query = self._counted(select(*keys, func.count().label("battles")), arena, among, lens)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.group_by(*keys).order_by(*keys))
            return [PairCount(r.system_a, r.system_b, Vote(r.winner), r.battles) for r in rows]

    async def joint_counts(
        self, arena: str, first: Lens, second: Lens, among: Slice = EVERYTHING
    ) -> list[JointCount]:
        """What two lenses say about the same battles, aggregated; battles on which both are silent left out.

        Where a lens has several sources for one battle, the first by name speaks.
        """
        keys = (outcomes.c.battle_id, outcomes.c.system_a, outcomes.c.system_b)
        place = func.row_number().over(
            partition_by=(outcomes.c.battle_id, outcomes.c.lens), order_by=outcomes.c.source
        )
        columns = select(*keys, outcomes.c.lens, outcomes.c.winner, place.label("place"))
        said = self._counted(columns, arena, among, first, second).subquery()
        of_lens = [func.max(case((said.c.lens == lens.value, said.c.winner))) for lens in (first, second)]
        battle = (
            select(said.c.system_a, said.c.system_b, of_lens[0].label("first"), of_lens[1].label("second"))
            .where(said.c.place == 1)
            .group_by(said.c.battle_id, said.c.system_a, said.c.system_b)
            .subquery()
        )
        cells = (battle.c.system_a, battle.c.system_b, battle.c.first, battle.c.second)
        query = select(*cells, func.count().label("battles")).group_by(*cells).order_by(*cells)
        async with self._database.transaction() as tx:
            return [_joint(row) for row in await tx.execute(query)]

    async def battles_decided(self, arena: str, lens: Lens, among: Slice = EVERYTHING) -> int:
        """Battles with an outcome in a lens, however many sources it has for one battle."""
        query = self._counted(select(func.count(outcomes.c.battle_id.distinct())), arena, among, lens)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def of_battle(self, battle_id: str) -> list[Outcome]:
        """Every outcome of one battle."""
        query = select(outcomes).where(outcomes.c.battle_id == battle_id).order_by(outcomes.c.source)
        async with self._database.transaction() as tx:
            return [_outcome(row._mapping) for row in await tx.execute(query)]

    async def of_battles(self, battle_ids: Sequence[str]) -> dict[str, list[Outcome]]:
        """Every outcome of some battles (as many as fit on a page), by battle."""
        query = select(outcomes).where(outcomes.c.battle_id.in_(battle_ids)).order_by(outcomes.c.source)
        found: dict[str, list[Outcome]] = {battle_id: [] for battle_id in battle_ids}
        async with self._database.transaction() as tx:
            for row in await tx.execute(query):
                found[row.battle_id].append(_outcome(row._mapping))
        return found

    async def count(self, arena: str) -> int:
        """How many outcomes an arena has, over all lenses."""
        query = select(func.count()).select_from(outcomes).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def counts(self, arena: str) -> dict[Lens, int]:
        """How many outcomes an arena has in each lens."""
        query = select(outcomes.c.lens, func.count()).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.group_by(outcomes.c.lens))
            found: dict[str, int] = {row[0]: row[1] for row in rows}
        return {lens: found.get(lens.value, 0) for lens in Lens}

    def _counted(self, query: Select[Any], arena: str, among: Slice, *lenses: Lens) -> Select[Any]:
        """A query over the outcomes of some lenses in a slice of an arena, self-battles left out."""
        if conditions := among.conditions(sqlite=self._database.is_sqlite):
            query = query.join(battles, battles.c.id == outcomes.c.battle_id).where(*conditions)
        return query.where(
            outcomes.c.arena == arena,
            outcomes.c.lens.in_([lens.value for lens in lenses]),
            outcomes.c.system_a != outcomes.c.system_b,
        )


def _joint(row: Any) -> JointCount:
    first, second = (None if said is None else Vote(said) for said in (row.first, row.second))
    return JointCount(row.system_a, row.system_b, first, second, row.battles)


def _outcome(values: object) -> Outcome:
    row = dict(values)  # type: ignore[call-overload]
    return Outcome(**row | {"lens": Lens(row["lens"]), "winner": Vote(row["winner"])})
