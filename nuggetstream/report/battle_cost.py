"""What the model calls of a battle cost, over the battles of an evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.files.evaluated import BattleRow


@dataclass(frozen=True, slots=True)
class BattleCost:
    """What the model calls of a battle cost as means.

    Attributes:
        battles: Battles whose model calls are recorded; all means are over them, and 0 without one.
        calls: Model calls.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        amount: Money; None unless every battle has a price in the same currency.
        currency: Of the amount; None without one.
    """

    battles: int
    calls: float
    input_tokens: float
    output_tokens: float
    amount: float | None
    currency: str | None


def mean_cost(battles: Sequence[BattleRow]) -> BattleCost:
    """The mean cost of the battles whose model calls are recorded."""
    recorded = [battle for battle in battles if battle.spend]
    each = max(len(recorded), 1)
    parts = [part for battle in recorded for part in battle.spend]
    prices = [battle.cost for battle in recorded if battle.cost is not None]
    currencies = {price.currency for price in prices}
    currency = currencies.pop() if len(currencies) == 1 and len(prices) == len(recorded) else None
    return BattleCost(
        battles=len(recorded),
        calls=sum(part.calls for part in parts) / each,
        input_tokens=sum(part.input_tokens for part in parts) / each,
        output_tokens=sum(part.output_tokens for part in parts) / each,
        amount=None if currency is None else sum(price.amount for price in prices) / each,
        currency=currency,
    )
