"""Accounting: tokens and cost of every model call, and the budgets that stop the next call.

Every call that a server may charge for is booked: replies that were used, replies that were discarded,
and calls that timed out. Where a server reports no usage, the tokens are estimated and the entry says so.
"""

from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal, Protocol

from services.runtime import metrics, work
from services.runtime.errors import BudgetExceeded
from services.runtime.llm.booking import Unbooked
from services.runtime.llm.budget import Budget, Limit, Reserved
from services.runtime.llm.prices import Money, Part, PriceTable, Tokens

Source = Literal["usage", "estimate"]
_ZERO = Decimal(0)
_NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class Entry:
    """One booked call.

    Attributes:
        battle_id: Battle the call was made for; None where it was made for none.
        stage: Stage that made the call.
        model: Model that was asked.
        day: Day of the call (UTC).
        tokens: Tokens of the call.
        cost: Cost of the call; None when the model has no price.
        source: "usage" when the server counted the tokens, "estimate" when we did.
        arena: Arena of the battle; None where it is not known.
    """

    battle_id: str | None
    stage: str
    model: str
    day: date
    tokens: Tokens
    cost: Money | None
    source: Source
    arena: str | None = None


@dataclass(frozen=True, slots=True)
class Spend:
    """What a battle or a day has cost so far.

    Attributes:
        tokens: Tokens of all calls.
        amount: Cost of the calls whose price is known, in the price table's currency.
        calls: Number of calls.
        unpriced: Number of calls whose price is unknown; if it is above 0, `amount` is a lower bound.
        estimated: Number of calls whose tokens are estimated.
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
    """Stores entries. Processes that share a budget share a store."""

    async def add(self, entry: Entry) -> None:
        """Store one entry."""

    async def of_battle(self, battle_id: str) -> Spend:
        """Total of a battle."""

    async def of_day(self, day: date) -> Spend:
        """Total of a day (UTC)."""

    async def of_part_and_day(self, part: Part, name: str, day: date) -> Spend:
        """Total of the battles of an arena, or of those sent with keys of a name, on a day (UTC)."""

    async def key_of(self, battle_id: str) -> str | None:
        """Name of the API key that a battle was sent with; None where it is not known."""


class MemorySpendStore:
    """A store for one process. It keeps the totals of the current day and of the most recent battles."""

    def __init__(self, battles: int = 10_000) -> None:
        self._limit = battles
        self._battles: OrderedDict[str, Spend] = OrderedDict()
        self._day: tuple[date | None, Spend] = (None, Spend())
        self._arenas: dict[str, Spend] = {}

    async def add(self, entry: Entry) -> None:
        """Add one entry; above the limit, the least recently booked battle is forgotten."""
        if entry.battle_id is not None:
            self._battles[entry.battle_id] = self._battles.pop(entry.battle_id, Spend()) + entry
        if len(self._battles) > self._limit:
            self._battles.popitem(last=False)
        if self._day[0] != entry.day:
            self._arenas.clear()
        if entry.arena is not None:
            self._arenas[entry.arena] = self._arenas.get(entry.arena, Spend()) + entry
        self._day = (entry.day, await self.of_day(entry.day) + entry)

    async def of_battle(self, battle_id: str) -> Spend:
        """Total of a battle; zero for a battle that was forgotten."""
        return self._battles.get(battle_id, Spend())

    async def of_day(self, day: date) -> Spend:
        """Total of the current day; zero for any other day."""
        return self._day[1] if self._day[0] == day else Spend()

    async def of_part_and_day(self, part: Part, name: str, day: date) -> Spend:
        """Total of an arena on the current day; zero for any other day, and for keys."""
        is_today = part == "arena" and self._day[0] == day
        return self._arenas.get(name, Spend()) if is_today else Spend()

    async def key_of(self, battle_id: str) -> str | None:  # noqa: ARG002
        """No battle of one process was sent with a key."""
        return None


class Ledger:
    """Books calls and keeps them within the budget.

    A call is rejected before it is made when the amount spent, the input of the calls in flight and its own
    input together would exceed a limit. Output is known only afterwards, so a budget may be exceeded by the
    output of the calls in flight, but by no more.

    While an earlier call cannot be booked, no further call is made. Otherwise a message that is retried
    until the database accepts writes would pay for every retry, unnoticed by any budget.

    Args:
        prices: Prices of the models, without which every cost is unknown, and budgets of arenas and keys.
        budget: Limits per battle and per day; unlimited by default.
        store: Where entries are stored; in memory by default.
        today: Returns the current day in UTC.
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
        self._reserved: defaultdict[tuple[str, str | None], Reserved] = defaultdict(Reserved)
        self._unbooked = Unbooked(self._store.add)
        metrics.begin_values(metrics.LLM_BUDGET_REJECTIONS, ("battle", "day", "arena", "key"))

    async def for_battle(self, battle_id: str) -> Spend:
        """What a battle has cost so far."""
        return await self._store.of_battle(battle_id)

    async def for_day(self, day: date | None = None) -> Spend:
        """What a day has cost so far; the current day by default."""
        return await self._store.of_day(day or self._today())

    @asynccontextmanager
    async def reserve(self, battle_id: str | None, model: str, input_tokens: int) -> AsyncIterator[None]:
        """Reserve the input of a call for the duration of the block.

        Raises:
            BudgetExceeded: The call does not fit the budget and must not be made.
            Unavailable: An earlier call cannot be booked, so this one must not be made.
        """
        await self.flush()
        cost = self.prices.cost(model, Tokens(input=input_tokens))
        amount = _ZERO if cost is None else cost.amount
        key = await self._store.key_of(battle_id) if battle_id is not None and self.prices.keys else None
        keys = ("day", None), ("battle", battle_id), ("arena", _arena()), ("key", key)
        self._change(keys, +1, input_tokens, amount)
        try:
            await self._check(battle_id, key)
            yield
        finally:
            self._change(keys, -1, input_tokens, amount)

    def enter(self, battle_id: str | None, stage: str, model: str, tokens: Tokens, source: Source) -> Entry:
        """Note one call in memory, to be booked by the next `flush` or before the next call."""
        cost = self.prices.cost(model, tokens)
        entry = Entry(
            battle_id=battle_id,
            stage=stage,
            model=model,
            day=self._today(),
            tokens=tokens,
            cost=cost,
            source=source,
            arena=_arena(),
        )
        self._unbooked.append(entry)
        metrics.LLM_TOKENS.labels("input", model, stage).observe(tokens.input)
        metrics.LLM_TOKENS.labels("output", model, stage).observe(tokens.output)
        if cost is not None:
            arena = metrics.arena_label(entry.arena)
            metrics.LLM_COST.labels(arena, stage, model, cost.currency, source).inc(float(cost.amount))
        return entry

    async def flush(self) -> None:
        """Book all calls that are noted in memory.

        Raises:
            Unavailable: The store cannot be written now; the entries stay in memory.
        """
        await self._unbooked.flush()

    async def _check(self, battle_id: str | None, key: str | None) -> None:
        checked: list[tuple[str, Limit, Reserved, Spend]] = []
        if self.budget != Budget():
            of_battle, today = await self._spent(battle_id)
            self._show_left(today)
            checked.append(("day", self.budget.day, self._reserved["day", None], today))
            if battle_id is not None:
                reserved = self._reserved["battle", battle_id]
                checked.insert(0, ("battle", self.budget.battle, reserved, of_battle))
        parts: tuple[tuple[Part, str | None], ...] = (("arena", _arena()), ("key", key))
        for part, own in parts:
            if own is not None and (of_day := self.prices.day_limit(part, own)) is not None:
                spent = await self._store.of_part_and_day(part, own, self._today())
                checked.append((part, of_day, self._reserved[part, own], spent))
        for name, limit, reserved, spent in checked:
            over = limit.exceeded_by(spent.tokens.total + reserved.tokens, spent.amount + reserved.amount)
            if over is not None:
                metrics.LLM_BUDGET_REJECTIONS.labels(name).inc()
                of = f"day of the {name}" if name in ("arena", "key") else name
                raise BudgetExceeded(f"the next call would bring this {of} to {over}")

    async def _spent(self, battle_id: str | None) -> tuple[Spend, Spend]:
        """What a battle and the current day have cost; nothing is read where there is no limit."""
        counts = battle_id is not None and self.budget.battle != Limit()
        of_battle = await self.for_battle(battle_id) if battle_id is not None and counts else Spend()
        return of_battle, Spend() if self.budget.day == Limit() else await self.for_day()

    def _show_left(self, today: Spend) -> None:
        limit = self.budget.day
        if limit.tokens is not None:
            metrics.LLM_BUDGET_LEFT.labels("tokens").set(limit.tokens - today.tokens.total)
        if limit.money is not None:
            metrics.LLM_BUDGET_LEFT.labels(self.prices.currency).set(float(limit.money - today.amount))

    def _change(
        self, keys: Sequence[tuple[str, str | None]], sign: int, tokens: int, amount: Decimal
    ) -> None:
        for key in keys:
            self._reserved[key].change(sign, tokens, amount)
            if self._reserved[key].tokens == 0:
                del self._reserved[key]


def _arena() -> str | None:
    """Arena of the battle that the current task works on."""
    subject = work.current()
    return None if subject is None else subject.arena
