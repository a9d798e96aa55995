"""How often a system wins per category and language, from the counters of pairs.

arena, lens, system  ->  its wins, ties and losses in each category and language

Only counters are read, of the tags that begin with `category:` and of languages, so the cost depends on the
number of categories and pairs of systems, not of battles.
"""

from dataclasses import dataclass

from sqlalchemy import and_, case, func, or_, select

from nuggetstream.domain.lens import Lens
from services.store.database import Store
from services.store.tables import pair_counters

CATEGORY = "category:"


@dataclass(frozen=True, slots=True)
class GroupShare:
    """The outcomes of a system in one group of battles.

    Attributes:
        kind: "tag" or "language".
        value: The tag with its prefix, or the language.
        wins: Battles that it won.
        ties: Battles without a winner.
        losses: Battles that it lost.
    """

    kind: str
    value: str
    wins: int
    ties: int
    losses: int

    @property
    def battles(self) -> int:
        """Battles with an outcome."""
        return self.wins + self.ties + self.losses

    @property
    def share(self) -> float:
        """Share of the points won; a tie is half a point."""
        return (self.wins + self.ties / 2) / self.battles

    @property
    def name(self) -> str:
        """The category or language as a reader knows it."""
        return self.value.removeprefix(CATEGORY)


class SystemShares(Store):
    """Reads the counters of one system."""

    async def of_system(self, arena: str, lens: Lens, system: str, limit: int = 12) -> list[GroupShare]:
        """The groups of battles with the most outcomes of a system, the largest first.

        Raises:
            Unavailable: The database does not answer.
        """
        of = pair_counters.c
        is_a = of.system_a == system
        wins, losses = func.sum(case((is_a, of.a), else_=of.b)), func.sum(case((is_a, of.b), else_=of.a))
        ties = func.sum(of.tie + of.both_bad)
        groups = or_(
            # Not a range of texts: how punctuation is ordered depends on the collation of the database.
            and_(of.kind == "tag", func.substr(of.value, 1, len(CATEGORY)) == CATEGORY),
            of.kind == "language",
        )
        query = (
            select(of.kind, of.value, wins.label("wins"), ties.label("ties"), losses.label("losses"))
            .where(of.arena == arena, of.lens == lens.value, groups, or_(is_a, of.system_b == system))
            .group_by(of.kind, of.value)
            .having(wins + ties + losses > 0)
            .order_by((wins + ties + losses).desc(), of.kind, of.value)
            .limit(limit)
        )
        async with self._database.reading() as tx:
            return [
                GroupShare(row.kind, row.value, int(row.wins), int(row.ties), int(row.losses))
                for row in await tx.execute(query)
            ]
