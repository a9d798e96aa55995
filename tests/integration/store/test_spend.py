"""The bill: exact sums that every process sees, and budgets that hold across them."""

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import delete, event, insert, select

from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.failure import Reason
from services.recorder.costs import observe_cost
from services.runtime import work
from services.runtime.errors import BudgetExceeded, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, MemorySpendStore, Spend
from services.runtime.llm.booking import Unbooked
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.prices import Money, Price, PriceTable, Tokens
from services.runtime.work import Work
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.spend.costs import CostLine, Costs
from services.store.spend.spend import WHOLE_DAY, DatabaseSpendStore
from services.store.tables import SPEND_COLUMNS, spend_counters
from services.wire.codec import encode
from tests.booking import book
from tests.databases import engines_of
from tests.samples import NOON, battle

DAY = NOON.date()
_NUMBERS = itertools.count()
ENTRY = Entry("b1", "judge", "m", DAY, Tokens(100, 20, 40), Money(Decimal("0.000000025")), "usage")


async def test_nothing_booked_is_nothing_spent(database: Database) -> None:
    assert await DatabaseSpendStore(database).of_battle("b1") == Spend()
    assert await DatabaseSpendStore(database).of_day(DAY) == Spend()


async def test_the_total_of_a_day_is_read_from_its_own_rows_whatever_the_number_of_arenas(
    database: Database,
) -> None:
    store = DatabaseSpendStore(database)
    for number in range(9):
        await store.add(replace(ENTRY, stage=f"stage {number}"))
    whole = spend_counters.c.stage == WHOLE_DAY
    total = sum([row.calls for row in await database.rows(select(spend_counters).where(whole))])
    assert (total, (await store.of_day(DAY)).calls) == (9, 9)
    await database.execute(delete(spend_counters).where(~whole))
    assert ((await store.of_day(DAY)).calls, (await store.total()).calls) == (9, 9)


async def test_the_cost_of_a_battle_is_known_where_all_its_calls_have_prices_in_one_currency(
    database: Database,
) -> None:
    record, euros = DatabaseSpendStore(database), Money(Decimal("0.5"), "EUR")

    async def exported(battle_id: str) -> float | None:
        """The sum of what is exported of a battle, in units of 10^-9."""
        label, costs = f"{battle_id} {next(_NUMBERS)} {database.is_sqlite}", Costs(database)
        await observe_cost(costs, battle_id, label)
        labels = {"arena": label, "currency": "USD"}
        value = REGISTRY.get_sample_value("nuggetstream_battle_cost_sum", labels)
        return None if value is None else round(value * 1e9, 6)

    assert await exported("b1") is None
    for number in range(2):
        await record.add(replace(ENTRY, stage=f"stage {number}"))
    await record.add(replace(ENTRY, stage="grader-ragelo", cost=euros))  # an evaluator scores no battle
    await record.add(replace(ENTRY, battle_id="b2"))
    assert await exported("b1") == 50
    await record.add(replace(ENTRY, battle_id="b2", cost=euros))
    await record.add(replace(ENTRY, battle_id="b1", cost=None))
    assert [await exported(battle) for battle in ("b1", "b2")] == [None, None]


async def test_sums_are_the_same_as_in_memory(database: Database) -> None:
    record, expected = DatabaseSpendStore(database), Spend()
    for entry in (ENTRY, replace(ENTRY, cost=None), replace(ENTRY, source="estimate"), ENTRY):
        await record.add(entry)
        expected = expected + entry
    assert await record.of_battle("b1") == expected
    assert await record.of_day(DAY) == expected


async def test_a_battle_and_a_day_are_summed_apart(database: Database) -> None:
    record = DatabaseSpendStore(database)
    await record.add(ENTRY)
    await record.add(replace(ENTRY, battle_id="b2"))
    await record.add(replace(ENTRY, day=DAY + timedelta(days=1)))
    assert (await record.of_battle("b1")).calls == 2
    assert (await record.of_day(DAY)).calls == 2
    assert (await record.of_battle("never")).calls == 0


async def test_a_battle_is_summed_per_stage_model_and_currency(database: Database) -> None:
    record, costs = DatabaseSpendStore(database), Costs(database)
    assert await costs.of_battle("b1") == []
    for entry in (ENTRY, replace(ENTRY, stage="assigner", model="z"), replace(ENTRY, stage="assigner")):
        await record.add(entry)
    await record.add(replace(ENTRY, cost=None))
    await record.add(replace(ENTRY, battle_id="b2"))
    one = Decimal("0.000000025")
    calls: Any = {"calls": 1, "input_tokens": 100, "output_tokens": 20}
    assert await costs.of_battle("b1") == [
        CostLine(stage=stage, model=model, **calls, amount=amount, currency=currency)
        for stage, model, amount, currency in (
            ("assigner", "m", one, "USD"),
            ("assigner", "z", one, "USD"),
            ("judge", "m", None, None),
            ("judge", "m", one, "USD"),
        )
    ]


async def test_a_thousand_tenths_of_a_cent_are_exactly_a_unit(database: Database) -> None:
    record = DatabaseSpendStore(database)
    for _ in range(100):
        await record.add(replace(ENTRY, cost=Money(Decimal("0.01"))))
    assert (await record.of_day(DAY)).amount == Decimal(1)


async def test_what_is_too_small_to_write_down_is_rounded_up(database: Database) -> None:
    record = DatabaseSpendStore(database)
    await record.add(replace(ENTRY, cost=Money(Decimal("1e-15"))))
    assert (await record.of_day(DAY)).amount == Decimal("1e-12")


async def test_other_money_does_not_add_and_is_called_unpriced(database: Database) -> None:
    record = DatabaseSpendStore(database, "EUR")
    await record.add(ENTRY)
    await record.add(replace(ENTRY, cost=Money(Decimal(2), "EUR")))
    spent = await record.of_day(DAY)
    assert (spent.amount, spent.unpriced, spent.calls) == (Decimal(2), 1, 2)


async def test_a_budget_holds_across_processes(database: Database, database_url: str) -> None:
    prices = PriceTable({"m": Price(input=Decimal(1_000_000), output=Decimal(0))})
    budget = Budget(battle=Limit(money=Decimal(10)))
    other = Database(database_url)
    here = Ledger(prices, budget, DatabaseSpendStore(database), today=lambda: DAY)
    there = Ledger(prices, budget, DatabaseSpendStore(other), today=lambda: DAY)
    await book(here, "b1", "judge", "m", Tokens(input=9), "usage")
    async with there.reserve("b1", "m", 1):
        pass
    with pytest.raises(BudgetExceeded, match=r"11\.0000 of 10 in money"):
        async with there.reserve("b1", "m", 2):
            pass
    await other.close()


async def test_the_budget_of_an_arena_holds_for_its_battles_alone(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        '[models.m]\ninput = 1000000\noutput = 0\n[arenas.mine]\nday_money = "10"\n'
        "[arenas.small]\nday_tokens = 5\n"
    )
    prices, battles = PriceTable.load(path), Battles(database)
    assert prices.of_batches().limits_money
    for store in (DatabaseSpendStore(database), MemorySpendStore()):
        ledger = Ledger(prices, store=store, today=lambda: DAY)
        for arena in ("mine", "small", "other"):
            told = replace(battle(), id=f"{type(store).__name__} {arena}", arena=arena)
            await battles.accept(told, encode(BattleSubmitted(f"key {told.id}", told)), NOON)
            with work.delivery():
                work.begin(Work(told.id, arena))
                await book(ledger, told.id, "judge", "m", Tokens(input=4), "usage")
                fits = {"mine": 6, "small": 1, "other": 1000}[arena]
                async with ledger.reserve(told.id, "m", fits):
                    pass
                if arena != "other":
                    with pytest.raises(BudgetExceeded, match=r"bring this day of the arena to"):
                        async with ledger.reserve(told.id, "m", fits + 1):
                            pass
        if isinstance(store, DatabaseSpendStore):
            assert (await store.of_part_and_day("arena", "mine", DAY)).tokens.total == 4
            assert await store.of_part_and_day("arena", "mine", DAY.replace(year=2000)) == Spend()


async def test_the_budget_of_a_key_holds_for_what_is_sent_with_keys_of_its_name(
    database: Database, tmp_path: Path
) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('[models.m]\ninput = 1000000\noutput = 0\n[keys."site a"]\nday_money = "10"\n')
    prices, store = PriceTable.load(path), DatabaseSpendStore(database)
    assert prices.of_batches().limits_money
    ledger = Ledger(prices, store=store, today=lambda: DAY)
    sent = {"one": "site a", "two": "site a", "three": "site b", "four": None}
    await Battles(database).accept_all(
        [NewBattle(replace(battle(), id=name), b"", key_name=key) for name, key in sent.items()], NOON
    )
    assert [await store.key_of(name) for name in (*sent, "unknown")] == [*sent.values(), None]
    for name in sent:
        await book(ledger, name, "judge", "m", Tokens(input=4), "usage")
    for name, key in sent.items():
        fits = 2 if key == "site a" else 1000
        async with ledger.reserve(name, "m", fits):
            pass
    with pytest.raises(BudgetExceeded, match=r"bring this day of the key to 11\.0000 of 10 in money"):
        async with ledger.reserve("two", "m", 3):
            pass
    async with ledger.reserve("one", "m", 1):  # what is in flight counts
        with pytest.raises(BudgetExceeded, match="day of the key"):
            async with ledger.reserve("two", "m", 2):
                pass
    assert (await store.of_part_and_day("key", "site a", DAY)).tokens.total == 8


@pytest.mark.parametrize(
    ("budget", "tables"),
    [
        (Budget(), []),
        (Budget(battle=Limit(tokens=1000)), ["spend"]),
        (Budget(day=Limit(tokens=1000)), ["spend_counters"]),
        (Budget(battle=Limit(tokens=1000), day=Limit(tokens=1000)), ["spend", "spend_counters"]),
    ],
)
async def test_a_budget_is_checked_by_one_query_of_each_limit(
    database: Database, budget: Budget, tables: list[str]
) -> None:
    ledger = Ledger(budget=budget, store=DatabaseSpendStore(database), today=lambda: DAY)
    for _ in range(9):
        await book(ledger, "b1", "judge", "m", Tokens(input=100), "usage")
    queries: list[str] = []

    def remember(_c: Any, _cursor: Any, statement: str, _values: Any, _context: Any, _many: bool) -> None:
        if statement.startswith("SELECT"):
            queries.append(statement)

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)
    async with ledger.reserve("b1", "m", 100):
        pass
    assert len(queries) == len(tables)
    read = " ".join("".join(queries).split())
    assert [name for name in ("spend", "spend_counters") if f"FROM {name} " in read] == tables
    if tables:
        with pytest.raises(BudgetExceeded, match="1001 of 1000 tokens"):
            async with ledger.reserve("b1", "m", 101):
                pass


@pytest.mark.parametrize(
    ("part", "name", "keys"),
    [
        ("arena", "arena 7", "day=? AND slot=? AND arena=?"),
        ("key", "site 7", "day=? AND key_name=?"),
        ("stage", "grader-7", "day=? AND stage=?"),
    ],
)
async def test_a_budget_reads_only_the_counters_of_its_arena_key_or_evaluator(
    database: Database, part: Literal["arena", "key", "stage"], name: str, keys: str
) -> None:
    """Of 3,000 counters of a day, those that count are 30, and no other is read."""
    numbers = dict.fromkeys(SPEND_COLUMNS, 1)
    rows = [
        {"day": day, "slot": number % 3, "arena": f"arena {number % 100}", "key_name": f"site {number % 100}"}
        | {"stage": f"grader-{number % 100}", "model": f"m{number}", "currency": "USD"}
        | numbers
        for day in (DAY, DAY - timedelta(days=1))
        for number in range(3000)
    ]
    async with database.transaction() as tx:
        await tx.execute(insert(spend_counters), rows)
    statements: list[tuple[str, Any]] = []

    def remember(_c: Any, _cursor: Any, statement: str, given: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, given))

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)
    assert (await DatabaseSpendStore(database).of_part_and_day(part, name, DAY)).calls == 30
    [(statement, given)] = [each for each in statements if "spend_counters" in each[0]]
    async with database.transaction() as tx:
        if database.is_sqlite:
            plan = (await tx.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)).one().detail
            assert plan.startswith("SEARCH spend_counters USING ")
            assert plan.endswith(f"({keys})")
            return
        await tx.exec_driver_sql("ANALYZE spend_counters")
        analysed = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        [explained] = (await tx.exec_driver_sql(analysed, given)).scalar_one()
    scan = explained["Plan"]
    while "Plans" in scan and "Scan" not in scan["Node Type"]:
        [scan] = scan["Plans"]
    assert scan["Node Type"] in ("Index Scan", "Bitmap Heap Scan")
    assert (scan["Actual Rows"], scan.get("Rows Removed by Filter", 0)) == (30, 0)


async def test_a_call_whose_booking_is_cancelled_is_booked_once(database: Database) -> None:
    store = DatabaseSpendStore(database)
    ledger = Ledger(store=store, today=lambda: DAY)
    ledger.enter("b1", "judge", "m", Tokens(1, 1), "usage")
    async with database.exclusive("another writer"):  # for which SQLite waits
        booking = asyncio.create_task(ledger.flush())
        for _ in range(10):  # until the database has the entry
            await asyncio.sleep(0)
        booking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await booking
    await book(ledger, "b1", "judge", "m", Tokens(1, 1), "usage")
    async with asyncio.timeout(90):
        while (await store.of_battle("b1")).calls < 2:
            await asyncio.sleep(0.01)
    await ledger.flush()
    assert (await store.of_battle("b1")).calls == 2


async def test_a_call_whose_cancelled_booking_fails_is_booked_later() -> None:
    answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stored: list[str] = []

    async def add(entry: str) -> None:
        if not answer.done():
            await answer
        stored.append(entry)

    unbooked = Unbooked(add)
    unbooked.append("one")
    booking = asyncio.create_task(unbooked.flush())
    await asyncio.sleep(0)
    booking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await booking
    assert len(unbooked) == 0
    answer.set_exception(Unavailable(Reason.STORE_UNAVAILABLE, "gone"))
    async with asyncio.timeout(90):
        while not len(unbooked):
            await asyncio.sleep(0)
    await unbooked.flush()
    assert stored == ["one"]
