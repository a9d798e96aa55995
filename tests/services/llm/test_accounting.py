"""Every call is booked; the one that would pass a budget is never made."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from services.runtime.errors import BudgetExceeded
from services.runtime.llm.accounting import Ledger, MemorySpendStore
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.prices import Money, Price, PriceTable, Tokens, estimate_tokens
from tests.booking import book

DAY = date(2026, 3, 1)
PRICES = PriceTable({"m": Price(input=Decimal(1), output=Decimal(4))})


def rejections(budget: str) -> float:
    return REGISTRY.get_sample_value("nuggetstream_llm_budget_rejections_total", {"budget": budget}) or 0.0


def test_a_price_file_is_read_and_the_longest_prefix_wins(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'currency = "EUR"\n[models."gpt"]\ninput = 1\noutput = 2\n'
        '[models."gpt-mini"]\ninput = 0.5\ncached_input = 0.1\noutput = 1.5\n'
    )
    table = PriceTable.load(path)
    tokens = Tokens(input=1_000_000, output=1_000_000, cached_input=500_000)
    assert table.cost("gpt-mini-2026", tokens) == Money(Decimal("1.80"), "EUR")
    assert table.cost("gpt-large", tokens) == Money(Decimal(3), "EUR")


def test_json_prices_mean_the_same_and_a_misspelt_field_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"models": {"m": {"input": 1, "output": 4}}}')
    assert PriceTable.load(path) == PRICES
    path.write_text('{"models": {"m": {"input": 1, "outptu": 4}}}')
    with pytest.raises(ValueError, match=r"prices\.json: .*models\.m\.outptu: Extra inputs") as raised:
        PriceTable.load(path)
    assert type(raised.value) is ValueError  # what a command prints as one line


def test_an_unknown_price_is_not_free_but_the_offline_model_is() -> None:
    assert PRICES.cost("other", Tokens(input=5)) is None
    assert PRICES.cost("offline-heuristic", Tokens(input=5)) == Money(Decimal(0))


def test_currencies_do_not_add() -> None:
    with pytest.raises(ValueError, match="cannot be added"):
        Money(Decimal(1), "USD") + Money(Decimal(1), "EUR")


def test_a_token_is_four_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "日本")] == [0, 1, 1, 2, 2]


async def test_a_battle_is_the_sum_of_its_calls_and_says_what_it_does_not_know() -> None:
    ledger = Ledger(PRICES, today=lambda: DAY)
    await book(ledger, "b1", "judge", "m", Tokens(1_000_000, 1_000_000), "usage")
    await book(ledger, "b1", "judge", "unknown", Tokens(10, 1), "estimate")
    await book(ledger, "b2", "judge", "m", Tokens(1, 1), "usage")
    spent = await ledger.for_battle("b1")
    assert spent.tokens == Tokens(1_000_010, 1_000_001)
    assert (spent.amount, spent.calls, spent.unpriced, spent.estimated) == (Decimal(5), 2, 1, 1)
    assert (await ledger.for_day()).calls == 3


async def test_a_call_that_does_not_fit_the_battle_is_refused_before_it_is_made() -> None:
    ledger = Ledger(budget=Budget(battle=Limit(tokens=100)), today=lambda: DAY)
    await book(ledger, "b1", "judge", "m", Tokens(80, 10), "usage")
    before = rejections("battle"), rejections("day")
    async with ledger.reserve("b1", "m", 10):
        pass
    with pytest.raises(BudgetExceeded, match="101 of 100 tokens"):
        async with ledger.reserve("b1", "m", 11):
            pytest.fail("the call was made")
    assert (rejections("battle"), rejections("day")) == (before[0] + 1, before[1])
    async with ledger.reserve("b2", "m", 11):
        pass


async def test_calls_under_way_count_and_are_let_go_of_afterwards() -> None:
    ledger = Ledger(budget=Budget(battle=Limit(tokens=100)), today=lambda: DAY)
    async with ledger.reserve("b1", "m", 60):
        with pytest.raises(BudgetExceeded):
            async with ledger.reserve("b1", "m", 60):
                pytest.fail("the call was made")
    async with ledger.reserve("b1", "m", 60):
        pass


async def test_a_money_budget_holds_per_day_and_a_new_day_begins_at_nothing() -> None:
    today = [DAY]
    ledger = Ledger(PRICES, Budget(day=Limit(money=Decimal("0.5"))), today=lambda: today[0])
    await book(ledger, "b1", "judge", "m", Tokens(100_000, 100_000), "usage")
    before = rejections("battle"), rejections("day")
    with pytest.raises(BudgetExceeded, match="this day"):
        async with ledger.reserve("b2", "m", 1):
            pytest.fail("the call was made")
    assert (rejections("battle"), rejections("day")) == (before[0], before[1] + 1)
    today[0] = date(2026, 3, 2)
    async with ledger.reserve("b2", "m", 1):
        pass


async def test_the_memory_store_forgets_the_battle_not_heard_of_for_longest() -> None:
    store = MemorySpendStore(battles=2)
    ledger = Ledger(store=store, today=lambda: DAY)
    for battle in ("a", "b", "a", "c"):
        await book(ledger, battle, "judge", "m", Tokens(1, 1), "usage")
    assert [(await store.of_battle(battle)).calls for battle in "abc"] == [2, 0, 1]
