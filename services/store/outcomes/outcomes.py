"""Outcomes: the winner of each battle according to each source. Ratings are computed from their counts.

The key is (battle, source), so a message handled twice or a vote cast again replaces its row and adds none.
Counters are changed in the same transaction. Only slices without counters of their own are counted by reading
rows: several conditions at once, and of other periods than whole months the rest that is no month.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Every
from services.store.database import Store
from services.store.outcomes.cells import read_counts, read_dated, tally_of_cells
from services.store.outcomes.counters import LENS_PAIRS
from services.store.outcomes.facets import ALL, EVALUATOR, Range, range_of
from services.store.outcomes.judge_biases import JudgeCounts, read_judge_counts, read_models
from services.store.outcomes.outcome import Outcome, outcome_of_row
from services.store.outcomes.outcome_rows import OutcomeRows
from services.store.tables import (
    JOINT_COLUMNS,
    joint_counters,
    lens_counters,
    outcomes,
)

JointTotals = Mapping[tuple[Vote | None, Vote | None], int]
_JOINT = [
    (None if first is None else Vote(first), None if second is None else Vote(second))
    for first, second in JOINT_COLUMNS
]


@dataclass(frozen=True, slots=True, eq=False)
class LensCounts:
    """Outcomes of one lens, as of one moment.

    Attributes:
        tally: Outcomes per pair of systems.
        outcomes: Number of outcomes in the tally, one per battle; see `consensus.py` for several judges.
        decided: Number of battles with an outcome, from one or more sources.
        stamp: Changes whenever the counts change, see `Outcomes.stamp`.
        probable: Number of outcomes that count by their probabilities; None where all count as they are.
    """

    tally: Tally
    outcomes: int
    decided: int
    stamp: int | None
    probable: int | None = None


class Outcomes(Store):
    """What is read of the outcomes and their counters; `recording` writes them."""

    async def stamp(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> int | None:
        """A number that changes whenever the counts of a slice change; None while there are none.

        The numbers are random, so that two states have different ones, also after a backup was restored.
        """
        async with self._database.reading() as tx:
            return await _stamp(tx, arena, lens, range_of(selection.of(lens)))

    async def lens_counts(self, arena: str, lens: Lens, selection: Slice = EVERYTHING) -> LensCounts:
        """Battles per pair of systems and outcome, and the number of battles with any outcome.

        Battles of a system against itself are left out here and in all counts below, because they do not say
        which system is better.
        """
        async with self._database.snapshot() as tx:
            stamp = await _stamp(tx, arena, lens, range_of(selection.of(lens)))
            cells, decided, probable = await read_counts(tx, arena, lens, selection)
        expected = selection.of(lens).expected
        return LensCounts(
            tally=tally_of_cells(cells, expected=expected),
            outcomes=sum(cell.outcomes for cell in cells),
            decided=decided,
            stamp=stamp,
            probable=probable if expected else None,
        )

    async def dated(
        self, arena: str, lens: Lens, selection: Slice = EVERYTHING, every: Every = Every.DAY
    ) -> list[tuple[datetime, Tally]]:
        """Outcomes per day of receipt (in UTC), or per month if that is enough, the oldest first."""
        async with self._database.transaction() as tx:
            return await read_dated(tx, arena, lens, selection, every)

    async def joint_counts(
        self, arena: str, first: Lens, second: Lens, selection: Slice = EVERYTHING
    ) -> list[JointCount]:
        """Number of battles per pair of systems and pair of outcomes in two lenses.

        Battles without an outcome in either lens are left out. Where a lens has several sources for one
        battle, the first by name counts.
        """
        async with self._database.transaction() as tx:
            if selection.of(first, second) != EVERYTHING or (first, second) not in LENS_PAIRS:
                return await OutcomeRows(tx).joint_counts(arena, first, second, selection)
            counter = joint_counters.c
            query = select(counter.system_a, counter.system_b, *(counter[n] for n in JOINT_COLUMNS.values()))
            query = query.where(
                counter.arena == arena, counter.first == first.value, counter.second == second.value
            )
            rows = (await tx.execute(query)).all()
        return [
            JointCount(row[0], row[1], *winners, number)
            for row in rows
            for winners, number in zip(_JOINT, row[2:], strict=True)
            if number
        ]

    async def joint_totals(
        self, arena: str, first: Lens, second: Lens, selection: Slice = EVERYTHING
    ) -> JointTotals:
        """Number of battles per pair of outcomes in two lenses, over all pairs of systems."""
        if selection.flagged is Flagged.EXCLUDE:
            kinds = (selection.having(kind) for kind in (Flagged.INCLUDE, Flagged.ONLY))
            return _less(*[await self.joint_totals(arena, first, second, part) for part in kinds])
        totals: Counter[tuple[Vote | None, Vote | None]] = Counter()
        if selection.of(first, second) != EVERYTHING or (first, second) not in LENS_PAIRS:
            for cell in await self.joint_counts(arena, first, second, selection):
                totals[cell.first, cell.second] += cell.count
            return totals
        return await self._joint_totals(arena, first.value, second.value)

    async def _joint_totals(self, arena: str, first: str, second: str) -> JointTotals:
        counter = joint_counters.c
        sums = (func.coalesce(func.sum(counter[name]), 0) for name in JOINT_COLUMNS.values())
        query = select(*sums).where(counter.arena == arena, counter.first == first, counter.second == second)
        [row] = await self._database.rows(query)
        return {winners: int(number) for winners, number in zip(_JOINT, row, strict=True) if number}

    async def evaluators(self, arena: str, lens: Lens = Lens.JUDGE) -> list[str]:
        """The judges with outcomes in an arena and lens, by name."""
        counter = lens_counters.c
        query = select(counter.value).where(counter.arena == arena, counter.lens == lens.value)
        query = query.where(counter.kind == EVALUATOR, counter.outcomes > 0)
        return sorted(row.value for row in await self._database.rows(query))

    async def sources_totals(
        self, arena: str, first: str, second: str, selection: Slice = EVERYTHING
    ) -> JointTotals:
        """Number of battles per pair of outcomes of two judges that both have one.

        Args:
            arena: Arena of the battles.
            first: Source of the outcomes of the one.
            second: Source of the outcomes of the other.
            selection: Filter of the battles.
        """
        if selection.flagged is Flagged.EXCLUDE:
            kinds = (selection.having(kind) for kind in (Flagged.INCLUDE, Flagged.ONLY))
            return _less(*[await self.sources_totals(arena, first, second, part) for part in kinds])
        if selection.of() != EVERYTHING:
            async with self._database.transaction() as tx:
                return await OutcomeRows(tx).sources_totals(arena, first, second, selection)
        sources = sorted((first, second))  # as the counters name them
        totals = await self._joint_totals(arena, *sources)
        if sources[0] != first:
            return {(winners[1], winners[0]): number for winners, number in totals.items()}
        return totals

    async def judge_counts(self, arena: str) -> Sequence[JudgeCounts]:
        """What the verdicts of each judge and model of an arena depend on, per pair of systems."""
        return await read_judge_counts(self._database, arena)

    async def models(self, arena: str) -> list[str]:
        """The models that gave the labels or the verdicts that the outcomes of an arena rest on."""
        return await read_models(self._database, arena)

    async def of_battle(self, battle_id: str) -> list[Outcome]:
        """All outcomes of one battle."""
        return (await self.of_battles([battle_id]))[battle_id]

    async def of_battles(self, battle_ids: Sequence[str]) -> dict[str, list[Outcome]]:
        """All outcomes of the given battles, by battle id; for a page of battles, not for thousands."""
        query = select(outcomes).where(outcomes.c.battle_id.in_(battle_ids)).order_by(outcomes.c.source)
        by_battle: dict[str, list[Outcome]] = {battle_id: [] for battle_id in battle_ids}
        for row in await self._database.rows(query):
            by_battle[row.battle_id].append(outcome_of_row(row))
        return by_battle

    async def count(self, arena: str) -> int:
        """Number of outcomes of an arena, over all lenses."""
        return sum((await self.counts(arena)).values())

    async def counts(self, arena: str) -> dict[Lens, int]:
        """Number of outcomes of an arena in each lens."""
        counter = lens_counters.c
        query = select(counter.lens, counter.outcomes).where(counter.arena == arena, counter.kind == ALL.kind)
        by_lens: dict[str, int] = {row.lens: row.outcomes for row in await self._database.rows(query)}
        return {lens: by_lens.get(lens.value, 0) for lens in Lens}


def _less(every: JointTotals, some: JointTotals) -> JointTotals:
    """The totals of all battles without those of some of them."""
    return {winners: number - some.get(winners, 0) for winners, number in every.items()}


async def _stamp(tx: AsyncConnection, arena: str, lens: Lens, facets: Range | None) -> int | None:
    facet = (None if facets is None else facets.single) or ALL
    counter = lens_counters.c
    query = select(counter.stamp).where(counter.arena == arena, counter.lens == lens.value)
    stamp: int | None = await tx.scalar(query.where(counter.kind == facet.kind, counter.value == facet.value))
    return stamp
