"""Costs of model calls in the database, so that budgets cover all processes."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_UP, Decimal
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Select,
    bindparam,
    case,
    func,
    insert,
    literal,
    select,
    union_all,
)

from services.runtime.llm.accounting import Entry, Spend
from services.runtime.llm.prices import Money, Part, Tokens
from services.store.cost_tables import cost_counters
from services.store.counters import Key, increment
from services.store.database import Database
from services.store.sqlite_threads import Each
from services.store.tables import battles, spend, spend_counters
from services.wire.evaluators import GRADER_PREFIX

_SLOTS = 16  # calls booked at the same time rarely change the same row
_COUNTED = ("input_tokens", "output_tokens", "cached_input_tokens", "picos")
_BOOKING = insert(spend)
_SENT = select(battles.c.id, battles.c.arena, battles.c.key_name).where(
    battles.c.id.in_(bindparam("ids", expanding=True))
)
_KEY = select(battles.c.key_name).where(battles.c.id == bindparam("battle"))
_COST = (
    select(spend.c.currency, func.sum(spend.c.picos).label("picos"))
    .where(spend.c.battle_id == bindparam("battle"), spend.c.stage.not_like(f"{GRADER_PREFIX}%"))
    .group_by(spend.c.currency)
)
_PICO = Decimal("1e-12")  # a price per million tokens with up to six decimals is a multiple of it


@dataclass(frozen=True, slots=True)
class StageSpend:
    """What one stage spent on one model for a battle."""

    stage: str
    model: str
    spend: Spend


class DatabaseSpendStore:
    """A `SpendStore` in the database.

    Entries have no key: every entry is a call that was made, and a call made twice is paid for twice.

    Args:
        database: The database.
        currency: Currency of the sums. An entry in another currency (because an operator changed the price
            table) counts as unpriced.
    """

    def __init__(self, database: Database, currency: str = "USD") -> None:
        self._database = database
        self._currency = currency
        self._queries = _queries(currency)

    async def add(self, entry: Entry) -> None:
        """Store one entry.

        Raises:
            Unavailable: The database does not answer.
        """
        slot = 0 if self._database.is_sqlite else random.randrange(_SLOTS)  # noqa: S311 - no secret
        await self._database.write(Each(_book, (entry, slot)))

    async def of_battle(self, battle_id: str) -> Spend:
        """What scoring a battle has cost, which budgets count; evaluators have budgets of their own."""
        [spent] = await self._read(self._queries.of_battle, {"battle": battle_id})
        return spent

    async def cost_of_battle(self, battle_id: str) -> Money | None:
        """What scoring a battle has cost, in whatever currency.

        None without a call, with one whose price is unknown, or with prices in several currencies.
        """
        rows = await self._database.read(
            lambda connection: connection.execute(_COST, {"battle": battle_id}).all()
        )
        if len(rows) != 1 or rows[0].currency is None:
            return None
        return Money(amount_of(int(rows[0].picos)), rows[0].currency)

    async def of_battle_and_day(self, battle_id: str, day: date) -> tuple[Spend, Spend]:
        """`of_battle`, and the total of a day (UTC), in one query."""
        of_battle, of_day = await self._read(self._queries.of_both, {"battle": battle_id, "day": day})
        return of_battle, of_day

    async def of_battle_by_stage(self, battle_id: str) -> list[StageSpend]:
        """Totals of a battle per stage and model, sorted by name; they add up to what it cost in total."""
        query, values = self._queries.of_battle_by_stage, {"battle": battle_id}
        rows = await self._database.read(lambda connection: connection.execute(query, values).all())
        return [StageSpend(row.stage, row.model, _spend(row._mapping)) for row in rows]

    async def of_day(self, day: date) -> Spend:
        """Total of a day (UTC)."""
        [spent] = await self._read(self._queries.of_day, {"day": day})
        return spent

    async def of_part_and_day(self, part: Part, name: str, day: date) -> Spend:
        """Total of the battles of an arena, or of those sent with keys of a name, on a day (UTC)."""
        [spent] = await self._read(self._queries.of_parts[part], {"name": name, "day": day})
        return spent

    async def key_of(self, battle_id: str) -> str | None:
        """Name of the API key that a battle was sent with; None where it is not known."""
        return await self._database.read(lambda connection: connection.scalar(_KEY, {"battle": battle_id}))

    async def total(self) -> Spend:
        """Total of all entries."""
        [spent] = await self._read(self._queries.total, {})
        return spent

    async def _read(self, query: Executable, values: Mapping[str, Any]) -> list[Spend]:
        """The rows of a query in the order of their column `place`, if they have one."""
        async with self._database.reading() as tx:
            rows = (await tx.execute(query, values)).mappings().all()
        return [_spend(row) for row in sorted(rows, key=lambda row: row.get("place", 0))]


def _book(connection: Connection, new: Sequence[tuple[Entry, int]]) -> Sequence[None]:
    """Store entries, and add each to the counters of its slot."""
    rows = [_row(entry) for entry, _ in new]
    connection.execute(_BOOKING, rows)
    ids = sorted({entry.battle_id for entry, _ in new if entry.battle_id is not None})
    sent = {row.id: (row.arena, row.key_name or "") for row in connection.execute(_SENT, {"ids": ids})}
    spent: dict[Key, Counter[str]] = defaultdict(Counter)
    cost: dict[Key, Counter[str]] = defaultdict(Counter)
    for (entry, slot), row in zip(new, rows, strict=True):
        counted = {name: row[name] or 0 for name in _COUNTED}
        counted |= {"calls": 1, "estimated": int(entry.source == "estimate")}
        currency = row["currency"] or ""
        spent[entry.day, slot, currency].update(counted)
        cost[
            entry.day, slot, *sent.get(entry.battle_id or "", ("", "")), row["stage"], row["model"], currency
        ].update(counted)
    increment(connection, spend_counters, spent)
    increment(connection, cost_counters, cost)
    return [None] * len(new)


def total_of(parts: Sequence[StageSpend]) -> Spend:
    """The total of a battle, from what its stages spent."""
    spends = [part.spend for part in parts]
    return Spend(
        tokens=sum((spend.tokens for spend in spends), Tokens()),
        amount=sum((spend.amount for spend in spends), Decimal(0)),
        calls=sum(spend.calls for spend in spends),
        unpriced=sum(spend.unpriced for spend in spends),
        estimated=sum(spend.estimated for spend in spends),
    )


@dataclass(frozen=True, slots=True)
class _Queries:
    """The queries for sums in one currency, as the methods of the store name them."""

    of_battle: Executable
    of_battle_by_stage: Executable
    of_day: Executable
    of_both: Executable
    of_parts: Mapping[Part, Executable]
    total: Executable


@cache
def _queries(currency: str) -> _Queries:
    """Built once: a budget is checked before every call, and a query takes longer to build than to run."""
    sums, counted = _sums(currency).where(spend.c.battle_id == bindparam("battle")), _counted_sums(currency)
    of_battle = sums.where(spend.c.stage.not_like(f"{GRADER_PREFIX}%"))
    of_day = counted.where(spend_counters.c.day == bindparam("day"))
    keys = (spend.c.stage, spend.c.model)
    return _Queries(
        of_battle=of_battle,
        of_battle_by_stage=sums.add_columns(*keys).group_by(*keys).order_by(*keys),
        of_day=of_day,
        of_both=union_all(
            of_battle.add_columns(literal(0).label("place")),
            of_day.add_columns(literal(1).label("place")),
        ),
        of_parts={
            "arena": _part_sums(currency, cost_counters.c.arena),
            "key": _part_sums(currency, cost_counters.c.key_name),
        },
        total=counted,
    )


def _sums(currency: str) -> Select[*tuple[Any, ...]]:
    """Sums of booked calls."""
    picos = case((spend.c.currency == currency, spend.c.picos))
    return select(
        func.sum(spend.c.input_tokens).label("input"),
        func.sum(spend.c.output_tokens).label("output"),
        func.sum(spend.c.cached_input_tokens).label("cached_input"),
        func.sum(picos).label("picos"),
        func.count().label("calls"),
        func.count(picos).label("priced"),
        func.count(case((spend.c.source == "estimate", 1))).label("estimated"),
    )


def _counted_sums(currency: str) -> Select[*tuple[Any, ...]]:
    """The same sums from the counters of days."""
    counter = spend_counters.c
    in_currency = counter.currency == currency
    return select(
        func.sum(counter.input_tokens).label("input"),
        func.sum(counter.output_tokens).label("output"),
        func.sum(counter.cached_input_tokens).label("cached_input"),
        func.sum(case((in_currency, counter.picos))).label("picos"),
        func.coalesce(func.sum(counter.calls), 0).label("calls"),
        func.coalesce(func.sum(case((in_currency, counter.calls))), 0).label("priced"),
        func.coalesce(func.sum(counter.estimated), 0).label("estimated"),
    )


def _part_sums(currency: str, part: ColumnElement[str]) -> Select[*tuple[Any, ...]]:
    """The same sums for an arena or key, whose counters have neither cached nor estimated calls apart."""
    counter = cost_counters.c
    priced = counter.currency == currency
    calls = func.coalesce(func.sum(counter.calls), 0)
    return select(
        func.sum(counter.input_tokens).label("input"),
        func.sum(counter.output_tokens).label("output"),
        literal(0).label("cached_input"),
        func.sum(case((priced, counter.picos))).label("picos"),
        calls.label("calls"),
        func.coalesce(func.sum(case((priced, counter.calls))), 0).label("priced"),
        literal(0).label("estimated"),
    ).where(part == bindparam("name"), counter.day == bindparam("day"))


def _row(entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {"battle_id": entry.battle_id, "stage": entry.stage, "model": entry.model[:200]}
    row |= {"day": entry.day, "source": entry.source, "booked_at": datetime.now(UTC)}
    row |= {"input_tokens": entry.tokens.input, "output_tokens": entry.tokens.output}
    row |= {"cached_input_tokens": entry.tokens.cached_input, "picos": None, "currency": None}
    if entry.cost is not None:  # rounded up, so that budgets err on the safe side
        row |= {"picos": picos_of(entry.cost), "currency": entry.cost.currency}
    return row


def picos_of(cost: Money) -> int:
    """A cost in units of 10^-12 of its currency, rounded up."""
    return int((cost.amount / _PICO).to_integral_value(ROUND_UP))


def amount_of(picos: int) -> Decimal:
    """The amount of a cost in units of 10^-12 of its currency."""
    return picos * _PICO


def _spend(row: Mapping[Any, Any]) -> Spend:
    return Spend(
        tokens=Tokens(int(row["input"] or 0), int(row["output"] or 0), int(row["cached_input"] or 0)),
        amount=int(row["picos"] or 0) * _PICO,
        calls=int(row["calls"]),
        unpriced=int(row["calls"] - row["priced"]),
        estimated=int(row["estimated"]),
    )
