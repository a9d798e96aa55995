"""The battles that a study is about, as they were submitted."""

from collections.abc import AsyncIterator, Sequence

from sqlalchemy import select

from services.store.batches import among
from services.store.battles.event_bodies import value_of_battle
from services.store.database import Store
from services.store.tables import battles

_AT_ONCE = 200  # battles whose texts are in memory together
_BODIES = select(battles.c.id, battles.c.arena, battles.c.body).where(among(battles.c.id))


class StudiedBattles(Store):
    """Reads battles. Every method may raise Outage or Unavailable."""

    async def newest(self, arena: str, limit: int) -> list[str]:
        """Ids of the newest battles of an arena, the newest first."""
        query = select(battles.c.id).where(battles.c.arena == arena)
        query = query.order_by(battles.c.received_at.desc(), battles.c.id).limit(limit)
        return [row.id for row in await self._database.rows(query)]

    async def submitted(self, ids: Sequence[str]) -> AsyncIterator[tuple[str, str, bytes]]:
        """Those of the given battles that are stored: id, arena, and the encoded event that submitted it.

        The longer texts of their sources are left out.
        """
        for start in range(0, len(ids), _AT_ONCE):
            keys = ids[start : start + _AT_ONCE]
            for row in await self._database.rows(_BODIES, {"keys": keys}):
                yield row.id, row.arena, value_of_battle(row.body)
