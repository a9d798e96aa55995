"""The bill: tokens and money of every model call, and the budgets that stop the next one.

Booked is every call that a server may charge for: replies that were used, replies that were thrown
away, and calls that timed out. A server that reports no usage is estimated, and the entry says so.
"""

import asyncio
from collections import OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal, Protocol

from services.runtime import metrics
from services.runtime.errors import BudgetExceeded, Unavailable
from services.runtime.llm.prices import Money, PriceTable, Tokens

Source = Literal["usage", "estimate"]
_ZERO = Decimal(0)
_NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class Entry:
    """One booked call.

    Attributes:
        cost: None when the model has no price.
        source: whether the server counted the tokens or we did.
    """

    battle_id: str
    stage: str
    model: str
    day: date
    tokens: Tokens
    cost: Money | None
    source: Source


@dataclass(frozen=True, slots=True)
class Spend:
    """What a battle or a day has cost so far.

    Attributes:
        tokens: of all calls.
        amount: of the calls whose price is known, in the price table's currency.
        calls: all of them.
        unpriced: calls whose price is unknown; the amount is a lower bound when there are any.
        estimated: calls whose tokens we had to estimate.
    """

    tokens: Tokens = _NO_TOKENS
    amount: Decimal = _ZERO
    calls: int = 0
    unpriced: int = 0
    estimated: int = 0

    def __add__(self, entry: Entry) -> "Spend":
        return Spend(
            tokens=self.tokens + entry.tokens,
            amount=self.amount + (_ZERO if entry.cost is None else entry.cost.amount),
            calls=self.calls + 1,
            unpriced=self.unpriced + (entry.cost is None),
            estimated=self.estimated + (entry.source == "estimate"),
        )


class SpendStore(Protocol):
    """Where entries are kept. Shared by all processes where budgets are to hold across them."""

    async def add(self, entry: Entry) -> None:
        """Keeps one entry."""

    async def of_battle(self, battle_id: str) -> Spend:
        """The sum over a battle."""

    async def of_day(self, day: date) -> Spend:
        """The sum over a day (UTC)."""


class MemorySpendStore:
    """A store for one process; remembers today and the battles it saw last."""

    def __init__(self, battles: int = 10_000) -> None:
        self._limit = battles
        self._battles: OrderedDict[str, Spend] = OrderedDict()
        self._day: tuple[date | None, Spend] = (None, Spend())

    async def add(self, entry: Entry) -> None:
        """Keeps one entry, forgetting the battle not heard of for longest."""
        self._battles[entry.battle_id] = self._battles.pop(entry.battle_id, Spend()) + entry
        if len(self._battles) > self._limit:
            self._battles.popitem(last=False)
        self._day = (entry.day, await self.of_day(entry.day) + entry)

    async def of_battle(self, battle_id: str) -> Spend:
        """The sum over a battle."""
        return self._battles.get(battle_id, Spend())

    async def of_day(self, day: date) -> Spend:
        """The sum over a day."""
        return self._day[1] if self._day[0] == day else Spend()


@dataclass(frozen=True, slots=True)
class Limit:
    """A budget: at most so many tokens and so much money. None is no limit."""

    tokens: int | None = None
    money: Decimal | None = None

    def exceeded_by(self, tokens: int, amount: Decimal) -> str | None:
        """Which limit this spending passes, in words; None when it stays within."""
        if self.tokens is not None and tokens > self.tokens:
            return f"{tokens} of {self.tokens} tokens"
        if self.money is not None and amount > self.money:
            return f"{amount:.4f} of {self.money} in money"
        return None


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits per battle and per day (UTC)."""

    battle: Limit = Limit()
    day: Limit = Limit()


@dataclass(slots=True)
class _Held:
    tokens: int = 0
    amount: Decimal = _ZERO

    def change(self, sign: int, tokens: int, amount: Decimal) -> None:
        self.tokens += sign * tokens
        self.amount += sign * amount


class Ledger:
    """Books calls and keeps them within the budget.

    A call is refused before it is made, when what is spent, plus the input of the calls under way, plus
    its own input would pass a limit. Output is only known afterwards, so a budget may be passed by the
    replies then under way, and by no more.

    No call is made either while one that was made cannot be booked: a message that is tried again until the
    record takes writes would pay with every try, and no budget would know.

    Args:
        today: the day in UTC; a clock for tests.
    """

    def __init__(
        self,
        prices: PriceTable | None = None,
        budget: Budget | None = None,
        store: SpendStore | None = None,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self.prices = prices or PriceTable()
        self.budget = budget or Budget()
        self._store = store or MemorySpendStore()
        self._today = today
        self._held: defaultdict[str, _Held] = defaultdict(_Held)
        self._held_in_all = _Held()
        self._unbooked: deque[Entry] = deque()

    async def for_battle(self, battle_id: str) -> Spend:
        """What a battle has cost so far."""
        return await self._store.of_battle(battle_id)

    async def for_day(self, day: date | None = None) -> Spend:
        """What a day has cost so far; today when none is named."""
        return await self._store.of_day(day or self._today())

    @asynccontextmanager
    async def hold(self, battle_id: str, model: str, input_tokens: int) -> AsyncIterator[None]:
        """Sets a call's input aside for as long as it runs.

        Raises:
            BudgetExceeded: when it does not fit; nothing was called then.
            Unavailable: an earlier call cannot be booked; likewise.
        """
        await self._book_all()
        cost = self.prices.cost(model, Tokens(input=input_tokens))
        amount = _ZERO if cost is None else cost.amount
        self._change(battle_id, +1, input_tokens, amount)
        try:
            await self._check(battle_id)
            yield
        finally:
            self._change(battle_id, -1, input_tokens, amount)

    async def book(self, battle_id: str, stage: str, model: str, tokens: Tokens, source: Source) -> Entry:
        """Books one call.

        Raises:
            Unavailable: the store does not take it now; it is booked before the next call is made.
        """
        cost = self.prices.cost(model, tokens)
        entry = Entry(battle_id, stage, model, self._today(), tokens, cost, source)
        self._unbooked.append(entry)
        metrics.LLM_TOKENS.labels("input", model, stage).observe(tokens.input)
        metrics.LLM_TOKENS.labels("output", model, stage).observe(tokens.output)
        if cost is not None:
            metrics.LLM_COST.labels(stage, model, cost.currency, source).inc(float(cost.amount))
        await self._book_all()
        return entry

    async def _book_all(self) -> None:
        while self._unbooked:
            entry = self._unbooked.popleft()  # out of reach of others while it is being booked
            try:
                await self._store.add(entry)
            except (Unavailable, asyncio.CancelledError):
                self._unbooked.appendleft(entry)
                raise

    async def _check(self, battle_id: str) -> None:
        if self.budget == Budget():
            return
        today = await self.for_day()
        self._show_left(today)
        for name, limit, held, spent in (
            ("battle", self.budget.battle, self._held[battle_id], await self.for_battle(battle_id)),
            ("day", self.budget.day, self._held_in_all, today),
        ):
            over = limit.exceeded_by(spent.tokens.total + held.tokens, spent.amount + held.amount)
            if over is not None:
                raise BudgetExceeded(f"the next call would bring this {name} to {over}")

    def _show_left(self, today: Spend) -> None:
        limit = self.budget.day
        if limit.tokens is not None:
            metrics.LLM_BUDGET_LEFT.labels("tokens").set(limit.tokens - today.tokens.total)
        if limit.money is not None:
            metrics.LLM_BUDGET_LEFT.labels(self.prices.currency).set(float(limit.money - today.amount))

    def _change(self, battle_id: str, sign: int, tokens: int, amount: Decimal) -> None:
        self._held_in_all.change(sign, tokens, amount)
        self._held[battle_id].change(sign, tokens, amount)
        if self._held[battle_id].tokens == 0:
            del self._held[battle_id]
