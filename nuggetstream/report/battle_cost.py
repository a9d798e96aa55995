"""What the model calls of a battle cost, over the battles of an evaluation."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nuggetstream.files.evaluated import BattleRow, CostRow


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


def mean_cost(battles: Sequence[BattleRow], stages: Collection[str] | None = None) -> BattleCost:
    """The mean cost of the battles whose model calls are recorded.

    Args:
        battles: The battles.
        stages: Names of the stages that count; None for all.
    """
    recorded = [battle for battle in battles if battle.spend]
    parts = [part for battle in recorded for part in battle.spend if stages is None or part.stage in stages]
    prices = [
        price for battle in recorded if (price := battle.cost if stages is None else _price(battle, stages))
    ]
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


def _price(battle: BattleRow, stages: Collection[str]) -> CostRow | None:
    """What some stages cost; None unless each of their parts has a price, in one currency.

    Stages without a call, as those of a battle that shares its nuggets with others, cost nothing.
    """
    prices = [part.cost for part in battle.spend if part.stage in stages]
    priced = [price for price in prices if price is not None]
    of_all = [battle.cost] if battle.cost else []
    currencies = {price.currency for price in priced or of_all}
    if len(priced) < len(prices) or len(currencies) != 1:
        return None
    return CostRow(amount=sum(price.amount for price in priced), currency=currencies.pop())
