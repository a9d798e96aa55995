"""What model calls cost, for pages and the API: of a battle by stage and model."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, func, select

from services.store.database import Database
from services.store.spend import amount_of
from services.store.tables import spend


@dataclass(frozen=True, slots=True)
class CostLine:
    """What the calls of one stage of one model cost, in one currency.

    Attributes:
        stage: The stage, such as "judge".
        model: The model.
        calls: Number of calls.
        input_tokens: Tokens of the prompts.
        output_tokens: Tokens of the replies.
        amount: Cost of the calls; None where their price is unknown.
        currency: Currency of the cost; None where the price is unknown.
    """

    stage: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    amount: Decimal | None
    currency: str | None


_KEYS = (spend.c.stage, spend.c.model, spend.c.currency)
_OF_BATTLE = (
    select(
        *_KEYS,
        func.count().label("calls"),
        func.sum(spend.c.input_tokens).label("input_tokens"),
        func.sum(spend.c.output_tokens).label("output_tokens"),
        func.sum(spend.c.picos).label("picos"),
    )
    .where(spend.c.battle_id == bindparam("battle"))
    .group_by(*_KEYS)
    .order_by(spend.c.stage, spend.c.model)
)


class Costs:
    """Reads costs from the database.

    Args:
        database: The database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_battle(self, battle_id: str) -> list[CostLine]:
        """What a battle has cost, by stage and model; empty before the first call.

        Raises:
            Unavailable: the database does not answer.
        """
        values = {"battle": battle_id}
        rows = await self._database.read(lambda connection: connection.execute(_OF_BATTLE, values).all())
        return [_line(row) for row in rows]


def _line(row: Any) -> CostLine:
    return CostLine(
        stage=row.stage,
        model=row.model,
        calls=int(row.calls),
        input_tokens=int(row.input_tokens),
        output_tokens=int(row.output_tokens),
        amount=None if row.currency is None else amount_of(int(row.picos)),
        currency=row.currency,
    )
