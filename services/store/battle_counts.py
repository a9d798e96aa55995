"""Numbers of battles received, kept by counters that a new battle changes in its own transaction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.slice import Slice
from services.store.counters import increment
from services.store.facets import ALL, detected_facet, range_of, specific_facets
from services.store.slices import conditions_of
from services.store.tables import battle_counters, battles


class Counted(Protocol):
    """A new battle, and the language that boards count it for: its own, or the detected one."""

    @property
    def battle(self) -> Battle:
        """The battle."""

    @property
    def language(self) -> str | None:
        """The language."""


def count_battles(connection: Connection, new: Sequence[Counted], received_at: datetime) -> None:
    """Add new battles to the counters."""
    received: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for each in new:
        battle = each.battle
        facets = specific_facets(each.language, battle.tags, received_at)
        language = each.language if battle.language is None else None
        detected = [] if language is None else [detected_facet(language)]
        for facet in (ALL, *facets, *detected):
            received[battle.arena, *facet]["battles"] += 1
    increment(connection, battle_counters, received)


async def battles_by_arena(tx: AsyncConnection) -> dict[str, int]:
    """Number of battles received, by arena."""
    counter = battle_counters.c
    query = select(counter.arena, counter.battles).where(counter.kind == ALL.kind, counter.battles > 0)
    counts = {row.arena: row.battles for row in await tx.execute(query)}
    return dict(sorted(counts.items()))


async def frequent_facets(tx: AsyncConnection, arena: str, most: int = 12) -> dict[str, dict[str, int]]:
    """Number of battles of an arena by language, and by tag, of the most frequent ones.

    Args:
        tx: A connection.
        arena: The arena.
        most: Maximum number of languages, and of tags.
    """
    counter, found = battle_counters.c, {}
    for kind in ("language", "tag"):
        query = select(counter.value, counter.battles).where(
            counter.arena == arena, counter.kind == kind, counter.battles > 0
        )
        rows = await tx.execute(query.order_by(counter.battles.desc(), counter.value).limit(most))
        found[kind] = {row.value: row.battles for row in rows}
    return found


async def battles_received(tx: AsyncConnection, arena: str, selection: Slice) -> int:
    """Number of battles of an arena that were received and that the slice selects."""
    selection = selection.of()
    if selection.flagged is Flagged.EXCLUDE:
        every = await battles_received(tx, arena, selection.having(Flagged.INCLUDE))
        return every - await battles_received(tx, arena, selection.having(Flagged.ONLY))
    facets = range_of(selection)
    if facets is None:
        conditions = conditions_of(selection, sqlite=tx.dialect.name == "sqlite")
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena, *conditions)
    else:
        query = select(func.sum(battle_counters.c.battles)).where(battle_counters.c.arena == arena)
        query = query.where(facets.conditions(battle_counters))
    return int(await tx.scalar(query) or 0)


async def battles_detected(tx: AsyncConnection, arena: str, selection: Slice) -> int:
    """Number of battles that a slice by language selects by a detected language."""
    selection = selection.of()
    if selection.language is None:
        return 0
    if selection == Slice(language=selection.language):
        counter, facet = battle_counters.c, detected_facet(selection.language)
        query = select(counter.battles).where(
            counter.arena == arena, counter.kind == facet.kind, counter.value == facet.value
        )
    else:
        conditions = conditions_of(selection, sqlite=tx.dialect.name == "sqlite")
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena, *conditions)
        query = query.where(battles.c.language_confidence.is_not(None))
    return int(await tx.scalar(query) or 0)
