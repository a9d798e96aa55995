"""Numbers of battles received, kept by counters that a new battle changes in its own transaction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.slice import EVERYTHING, Slice
from services.store.database import Store
from services.store.outcomes.counters import increment
from services.store.outcomes.facets import ALL, DETECTED, Range, detected_facet, facets_of_battle, range_of
from services.store.outcomes.slices import conditions_of
from services.store.tables import battle_counters, battles


def count_battles(
    connection: Connection, new: Sequence[tuple[Battle, str | None]], received_at: datetime
) -> None:
    """Add new battles to the counters, each with its language for boards: its own, or the detected one."""
    received: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for battle, language in new:
        facets = facets_of_battle(language, battle.tags, received_at)
        if language is not None and battle.language is None:
            facets.append(detected_facet(language))
        for facet in facets:
            received[battle.arena, *facet]["battles"] += 1
    increment(connection, battle_counters, received)


class BattleCounts(Store):
    """How many battles there are. Every method may raise Outage or Unavailable."""

    async def arenas(self) -> dict[str, int]:
        """Number of battles received, by arena."""
        counter = battle_counters.c
        query = select(counter.arena, counter.battles).where(counter.kind == ALL.kind, counter.battles > 0)
        return dict(sorted((row.arena, row.battles) for row in await self._database.rows(query)))

    async def facets(self, arena: str, most: int = 12) -> dict[str, dict[str, int]]:
        """Number of battles of an arena by "language" and by "tag", of the most frequent ones.

        Args:
            arena: The arena.
            most: Maximum number of languages, and of tags.
        """
        counter, numbers = battle_counters.c, {}
        for kind in ("language", "tag"):
            query = select(counter.value, counter.battles).where(
                counter.arena == arena, counter.kind == kind, counter.battles > 0
            )
            query = query.order_by(counter.battles.desc(), counter.value).limit(most)
            numbers[kind] = {row.value: row.battles for row in await self._database.rows(query)}
        return numbers

    async def received(self, arena: str, selection: Slice = EVERYTHING) -> int:
        """Number of battles of an arena that were received and that the slice selects."""
        selection = selection.of()
        if selection.flagged is Flagged.EXCLUDE:
            every = await self.received(arena, selection.having(Flagged.INCLUDE))
            return every - await self.received(arena, selection.having(Flagged.ONLY))
        return await self._count(arena, selection, range_of(selection))

    async def detected(self, arena: str, selection: Slice = EVERYTHING) -> int:
        """Number of battles that a slice by language selects by a detected language."""
        language, selection = selection.language, selection.of()
        if language is None:
            return 0
        facets = Range(DETECTED, language, language) if selection == Slice(language=language) else None
        return await self._count(arena, selection, facets, battles.c.language_confidence.is_not(None))

    async def _count(
        self, arena: str, selection: Slice, facets: Range | None, *conditions: ColumnElement[bool]
    ) -> int:
        """Number of battles by counters, else of the rows for which the conditions hold, too."""
        if facets is not None:
            query = select(func.sum(battle_counters.c.battles)).where(battle_counters.c.arena == arena)
            return int(await self._database.scalar(query.where(facets.conditions(battle_counters))) or 0)
        conditions = (*conditions_of(selection, sqlite=self._database.is_sqlite), *conditions)
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena, *conditions)
        async with self._database.reading() as tx:
            return int(await tx.scalar(query) or 0)
