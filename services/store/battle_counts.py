"""Numbers of battles received, kept by counters that a new battle changes in its own transaction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Battle
from services.store.counters import Changes, add_changes, contributions, increment, merged
from services.store.facets import ALL, range_of, specific_facets
from services.store.outcome_writing import outcomes_by_battle
from services.store.slices import Slice
from services.store.tables import battle_counters, battles


def count_battles(connection: Connection, new: Sequence[Battle], received_at: datetime) -> None:
    """Add new battles, and outcomes that were stored before them, to the counters."""
    received: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    outcomes = outcomes_by_battle(connection, [battle.id for battle in new])
    changes: list[Changes] = []
    for battle in new:
        facets = specific_facets(battle.language, battle.tags, received_at)
        if early := outcomes.get(battle.id):
            added = contributions(early.values(), facets)
            for (
                outcome
            ) in early.values():  # slices without counters of their own go by the stamp of all battles
                added["lens_counters"][outcome.arena, outcome.lens.value, *ALL].update(())
            changes.append(added)
        for facet in (ALL, *facets):
            received[battle.arena, *facet]["battles"] += 1
    add_changes(connection, merged(changes))
    increment(connection, battle_counters, received)


async def battles_by_arena(tx: AsyncConnection) -> dict[str, int]:
    """Number of battles received, by arena."""
    counter = battle_counters.c
    query = select(counter.arena, counter.battles).where(counter.kind == ALL.kind, counter.battles > 0)
    counts = {row.arena: row.battles for row in await tx.execute(query)}
    return dict(sorted(counts.items()))


async def battles_received(tx: AsyncConnection, arena: str, selection: Slice) -> int:
    """Number of battles of an arena that were received and that the slice selects."""
    selection = selection.of()
    facets = range_of(selection)
    if facets is None:
        conditions = selection.conditions(sqlite=tx.dialect.name == "sqlite")
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena, *conditions)
    else:
        query = select(func.sum(battle_counters.c.battles)).where(battle_counters.c.arena == arena)
        query = query.where(facets.conditions(battle_counters))
    return int(await tx.scalar(query) or 0)
