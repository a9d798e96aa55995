"""Numbers of battles received, kept by counters that a new battle changes in its own transaction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Battle
from services.store.counters import add_to_counters, contributions, increment
from services.store.database import Database
from services.store.facets import ALL, range_of, specific_facets
from services.store.outcomes import outcomes_of_battle
from services.store.slices import Slice
from services.store.tables import battle_counters, battles


async def count_battles(
    database: Database, tx: AsyncConnection, new: Sequence[Battle], received_at: datetime
) -> None:
    """Add new battles, and outcomes that were stored before them, to the counters."""
    received: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for battle in new:
        facets = specific_facets(battle.language, battle.tags, received_at)
        if early := await outcomes_of_battle(tx, battle.id):
            changes = contributions(early, facets)
            for outcome in early:  # slices without counters of their own go by the stamp of all battles
                changes["lens_counters"][outcome.arena, outcome.lens.value, *ALL].update(())
            await add_to_counters(database, tx, changes)
        for facet in (ALL, *facets):
            received[battle.arena, *facet]["battles"] += 1
    await increment(database, tx, battle_counters, received)


async def battles_by_arena(tx: AsyncConnection) -> dict[str, int]:
    """Number of battles received, by arena."""
    counter = battle_counters.c
    query = select(counter.arena, counter.battles).where(counter.kind == ALL.kind, counter.battles > 0)
    counts = {row.arena: row.battles for row in await tx.execute(query)}
    return dict(sorted(counts.items()))


async def battles_received(tx: AsyncConnection, arena: str, selection: Slice) -> int:
    """Number of battles of an arena that were received and that the slice selects."""
    facets = range_of(selection)
    if facets is None:
        conditions = selection.conditions(sqlite=tx.dialect.name == "sqlite")
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena, *conditions)
    else:
        query = select(func.sum(battle_counters.c.battles)).where(battle_counters.c.arena == arena)
        query = query.where(facets.conditions(battle_counters))
    return int(await tx.scalar(query) or 0)
