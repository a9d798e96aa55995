"""The newest outcomes of a lens with the queries and answers that they are about, for ratings at equal style.

The number of battles that are looked at is bounded, so the cost does not grow with the arena.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens, source_of_judge
from nuggetstream.domain.slice import EVERYTHING, Slice
from services.store.batches import among, rows_of_keys
from services.store.battles.event_bodies import value_of_battle
from services.store.database import Database
from services.store.outcomes.slices import conditions_of
from services.store.tables import battles, outcomes

WINDOW = 20_000  # newest battles of an arena that are looked at
_QUERY_CHARACTERS = 300  # so that long queries do not fill the memory
_BODIES = select(battles.c.id, battles.c.body).where(among(battles.c.id))


@dataclass(frozen=True, slots=True)
class QueriedOutcome:
    """An outcome with the beginning of its battle's query, which tells which outcomes are independent."""

    battle_id: str
    query: str
    system_a: str
    system_b: str
    winner: Vote


class StyledOutcomes:
    """Reads outcomes and battles.

    Args:
        database: The database.
        window: Maximum number of battles of an arena that are looked at.
    """

    def __init__(self, database: Database, window: int = WINDOW) -> None:
        self._database = database
        self.window = window

    async def newest(
        self, arena: str, lens: Lens, limit: int, slice_: Slice = EVERYTHING
    ) -> list[QueriedOutcome]:
        """The outcomes of the newest battles in a lens, one per battle: that of the first source by name.

        Battles of a system against itself are left out. Where the slice has times, the newest battles of that
        period are looked at; its other conditions select among these, so the cost stays bounded.

        Args:
            arena: Arena of the battles.
            lens: The lens.
            limit: Maximum number of outcomes.
            slice_: Filter of the battles; `expected` is not considered.

        Raises:
            Unavailable: The database does not answer.
        """
        columns, period = outcomes.c, Slice(since=slice_.since, until=slice_.until)
        recent = (
            select(battles.c.id)
            .where(battles.c.arena == arena, *conditions_of(period, sqlite=self._database.is_sqlite))
            .order_by(battles.c.received_at.desc(), battles.c.id)
            .limit(self.window)
            .subquery()
        )
        query = (
            select(
                battles.c.id,
                func.substr(battles.c.query, 1, _QUERY_CHARACTERS).label("query"),
                columns.system_a,
                columns.system_b,
                columns.winner,
            )
            .join(recent, recent.c.id == battles.c.id)
            .join(outcomes, columns.battle_id == battles.c.id)
            .where(columns.lens == lens.value, columns.system_a != columns.system_b)
            .where(*conditions_of(slice_, sqlite=self._database.is_sqlite))
            .order_by(battles.c.received_at.desc(), battles.c.id, columns.source)
        )
        if (evaluator := slice_.of(lens).evaluator) is not None:
            query = query.where(columns.source == source_of_judge(evaluator, lens))
        queried: dict[str, QueriedOutcome] = {}
        async with self._database.reading() as tx:
            for row in await tx.execute(query):
                if row.id not in queried:
                    if len(queried) == limit:
                        break
                    queried[row.id] = QueriedOutcome(
                        row.id, row.query, row.system_a, row.system_b, Vote(row.winner)
                    )
        return list(queried.values())

    async def submissions(self, ids: Collection[str]) -> dict[str, bytes]:
        """The encoded events that submitted battles, by id; texts of sources may be references.

        Raises:
            Unavailable: The database does not answer.
        """
        async with self._database.reading() as tx:
            return await tx.run_sync(
                lambda tx: {row.id: value_of_battle(row.body) for row in rows_of_keys(tx, _BODIES, ids)}
            )
