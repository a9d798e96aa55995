"""What the model calls of a battle cost, over the battles of an evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.files.evaluated import BattleRow


@dataclass(frozen=True, slots=True)
class BattleCost:
    """The means of what the model calls of a battle cost.

    Attributes:
        battles: Battles whose model calls are recorded; all means are over them.
        calls: Model calls; None where no battle's are recorded, as for tokens.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        amount: Money; None unless every battle has a price in the same currency.
        currency: Of the amount; None without one.
    """

    battles: int
    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    amount: float | None
    currency: str | None


def mean_cost(battles: Sequence[BattleRow]) -> BattleCost:
    """The mean cost of the battles whose model calls are recorded."""
    recorded = [battle for battle in battles if battle.spend]
    parts = [part for battle in recorded for part in battle.spend]
    prices = [battle.cost for battle in recorded if battle.cost is not None]
    currencies = {price.currency for price in prices}
    currency = currencies.pop() if len(currencies) == 1 and len(prices) == len(recorded) else None

    def mean(total: float) -> float | None:
        return total / len(recorded) if recorded else None

    return BattleCost(
        battles=len(recorded),
        calls=mean(sum(part.calls for part in parts)),
        input_tokens=mean(sum(part.input_tokens for part in parts)),
        output_tokens=mean(sum(part.output_tokens for part in parts)),
        amount=None if currency is None else mean(sum(price.amount for price in prices)),
        currency=currency,
    )
