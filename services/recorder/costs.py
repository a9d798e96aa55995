"""What scoring a battle cost, as a metric."""

from contextlib import suppress

from services.runtime.errors import Unavailable
from services.runtime.metrics import BATTLE_COST
from services.store.spend import DatabaseSpendStore


class BattleCosts:
    """Exports the cost of battles that ended, by arena.

    Args:
        spends: What battles cost.
    """

    def __init__(self, spends: DatabaseSpendStore) -> None:
        self._spends = spends

    async def observe(self, battle_id: str, label: str) -> None:
        """Export the cost of a battle that has just ended, if it is known, under the label of its arena."""
        with suppress(Unavailable):  # the battle is recorded, and no metric is worth recording it again
            cost = await self._spends.cost_of_battle(battle_id)
            if cost is not None:
                BATTLE_COST.labels(label, cost.currency).observe(float(cost.amount))
