"""What scoring a battle cost, as a metric."""

from contextlib import suppress
from decimal import Decimal

from services.runtime.errors import Unavailable
from services.runtime.metrics import BATTLE_COST
from services.store.spend.costs import Costs
from services.wire.evaluators import GRADER_PREFIX


async def observe_cost(costs: Costs, battle_id: str, label: str) -> None:
    """Export what scoring a battle has cost, under the label of its arena; evaluators are left out.

    Nothing is exported without a call, with one whose price is unknown, or with several currencies.
    """
    with suppress(Unavailable):  # the battle is recorded, and no metric is worth recording it again
        lines = [
            line for line in await costs.of_battle(battle_id) if not line.stage.startswith(GRADER_PREFIX)
        ]
        currencies, amounts = {line.currency for line in lines}, [line.amount or Decimal(0) for line in lines]
        if len(currencies) == 1 and None not in currencies:
            BATTLE_COST.labels(label, *currencies).observe(float(sum(amounts)))
