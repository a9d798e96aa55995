"""Costs of model calls in the database, so that budgets cover all processes.

a booked call  ->  its row, the counter of its day, arena, API key, stage, model and currency, and that of
                   its day and currency, so that the budget of a day costs the same with thousands of arenas
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_UP, Decimal
from typing import Any, Literal

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    case,
    func,
    insert,
    literal,
    select,
)

from services.runtime.llm.accounting import Entry, Spend
from services.runtime.llm.prices import Money, Part, Tokens
from services.store.batches import among, rows_of_keys
from services.store.database import Database
from services.store.outcomes.counters import Key, increment
from services.store.sqlite_threads import Each
from services.store.tables import SPEND_COLUMNS, battles, spend, spend_counters
from services.wire.evaluators import GRADER_PREFIX

_SLOTS = 4  # calls booked at the same time rarely change the same row
_BOOKING = insert(spend)
_SENT = select(battles.c.id, battles.c.arena, battles.c.key_name).where(among(battles.c.id))
_KEY = select(battles.c.key_name).where(battles.c.id == bindparam("battle"))
_PICO = Decimal("1e-12")  # a price per million tokens with up to six decimals is a multiple of it
BOOKED = select(
    spend.c.battle_id,
    spend.c.day,
    spend.c.stage,
    spend.c.model,
    func.coalesce(spend.c.currency, "").label("currency"),
    literal(1).label("calls"),
    spend.c.input_tokens,
    spend.c.output_tokens,
    spend.c.cached_input_tokens,
    func.coalesce(spend.c.picos, 0).label("picos"),
    case((spend.c.source == "estimate", 1), else_=0).label("estimated"),
)
"""What each booked call adds to the counter of its stage."""
WHOLE_DAY = ""
"""The stage of counters that count all calls of a day."""


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
        # Built once: a budget is checked before every call, and a query takes longer to build than to run.
        scoring = spend.c.stage.not_like(f"{GRADER_PREFIX}%")
        self._of_battle = _sums(
            BOOKED.where(spend.c.battle_id == bindparam("battle"), scoring).subquery(), currency
        )
        counters, of = _sums(spend_counters, currency), spend_counters.c
        self._total = counters.where(of.stage == WHOLE_DAY)
        day, slots = of.day == bindparam("day"), of.slot.in_(range(_SLOTS))  # all are named for the index
        self._of_day = self._total.where(day, slots, of.arena == "", of.key_name == "")
        of_stages = counters.where(day, of.stage != WHOLE_DAY)
        name: BindParameter[str] = bindparam("name")
        self._of_parts: dict[str, Select[Any]] = {
            "arena": of_stages.where(slots, of.arena == name),
            "key": of_stages.where(of.key_name == name),
            "stage": of_stages.where(of.stage == name),
        }

    async def add(self, entry: Entry) -> None:
        """Store one entry.

        Raises:
            Unavailable: The database does not answer.
        """
        slot = 0 if self._database.is_sqlite else random.randrange(_SLOTS)  # noqa: S311 - no secret
        await self._database.write(Each(_book, (entry, slot)))

    async def of_battle(self, battle_id: str) -> Spend:
        """What scoring a battle has cost, which budgets count; evaluators have budgets of their own."""
        return await self._read(self._of_battle, battle=battle_id)

    async def of_day(self, day: date) -> Spend:
        """Total of a day (UTC)."""
        return await self._read(self._of_day, day=day)

    async def of_part_and_day(self, part: Part | Literal["stage"], name: str, day: date) -> Spend:
        """Total of the calls for an arena, for keys of a name, or of a stage, on a day (UTC)."""
        return await self._read(self._of_parts[part], name=name, day=day)

    async def key_of(self, battle_id: str) -> str | None:
        """Name of the API key that a battle was sent with; None where it is not known."""
        key: str | None = await self._database.scalar(_KEY, {"battle": battle_id})
        return key

    async def total(self) -> Spend:
        """Total of all entries."""
        return await self._read(self._total)

    async def _read(self, query: Select[Any], **values: object) -> Spend:
        [row] = await self._database.rows(query, values)
        return Spend(
            tokens=Tokens(int(row.input_tokens), int(row.output_tokens), int(row.cached_input_tokens)),
            amount=amount_of(int(row.priced_picos)),
            calls=int(row.calls),
            unpriced=int(row.calls - row.priced_calls),
            estimated=int(row.estimated),
        )


def _book(connection: Connection, new: Sequence[tuple[Entry, int]]) -> Sequence[None]:
    """Store entries, and add each to the counters of its slot."""
    rows = [_row(entry) for entry, _ in new]
    connection.execute(_BOOKING, rows)
    ids = {entry.battle_id for entry, _ in new if entry.battle_id is not None}
    sent = {row.id: (row.arena, row.key_name or "") for row in rows_of_keys(connection, _SENT, ids)}
    spent: dict[Key, Counter[str]] = defaultdict(Counter)
    for (entry, slot), row in zip(new, rows, strict=True):
        battle_key = sent.get(entry.battle_id or "", ("", ""))
        numbers = row | {"picos": row["picos"] or 0, "calls": 1, "estimated": entry.source == "estimate"}
        for named in ((*battle_key, row["stage"], row["model"]), ("", "", WHOLE_DAY, "")):
            key = (entry.day, slot, *named, row["currency"] or "")
            spent[key].update({name: int(numbers[name]) for name in SPEND_COLUMNS})
    increment(connection, spend_counters, spent)
    return [None] * len(new)


def _sums(of: FromClause, currency: str) -> Select[Any]:
    """Sums over booked calls or their counters, with the calls that have a price in a currency apart."""
    priced = of.c.currency == currency
    sums: Mapping[str, ColumnElement[Any]] = {name: of.c[name] for name in SPEND_COLUMNS} | {
        f"priced_{name}": case((priced, of.c[name])) for name in ("calls", "picos")
    }
    return select(*(func.coalesce(func.sum(column), 0).label(name) for name, column in sums.items()))


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
