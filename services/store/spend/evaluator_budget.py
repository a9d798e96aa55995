"""The budget of one evaluator per day, over all processes that run it."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime

from services.runtime.llm.budget import Limit
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore

_REFRESH = 5.0  # seconds


class EvaluatorBudget:
    """What one evaluator may spend per day (UTC).

    The amount spent is read from counters, every few seconds and not before every call, so a budget is
    exceeded by the calls of that time at most.

    Args:
        database: Where calls are booked.
        stage: Stage under which the evaluator's calls are booked.
        limit: The budget; without one nothing is read.
        currency: Currency of the budget.
        refresh: Seconds after which the amount is read again.
        today: Returns the current day in UTC.
        clock: Returns seconds that never go back.
    """

    def __init__(
        self,
        database: Database,
        stage: str,
        limit: Limit,
        currency: str = "USD",
        *,
        refresh: float = _REFRESH,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spends = DatabaseSpendStore(database, currency)
        self._stage, self._limit, self._currency = stage, limit, currency
        self._refresh, self._today, self._clock = refresh, today, clock
        self._read_at: float | None = None
        self._exhausted: str | None = None

    async def exhausted(self) -> str | None:
        """What used the budget up, such as "1000 of 1000 tokens"; None while there is some left.

        Raises:
            Unavailable: The database does not answer.
        """
        if self._limit == Limit():
            return None
        now = self._clock()
        if self._read_at is None or now - self._read_at >= self._refresh:
            self._exhausted, self._read_at = await self._read(), now
        return self._exhausted

    async def _read(self) -> str | None:
        spent = await self._spends.of_part_and_day("stage", self._stage, self._today())
        if self._limit.tokens is not None and spent.tokens.total >= self._limit.tokens:
            return f"{spent.tokens.total} of {self._limit.tokens} tokens"
        if self._limit.money is not None and spent.amount >= self._limit.money:
            return f"{spent.amount:.4f} of {self._limit.money} {self._currency}"
        return None
