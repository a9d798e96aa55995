"""The budget of an evaluator, on both databases: its own calls count, of this day, and no others."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import event

from services.runtime.llm.accounting import Entry
from services.runtime.llm.budget import Limit
from services.runtime.llm.prices import Money, Tokens
from services.store.database import Database
from services.store.spend.costs import Costs
from services.store.spend.evaluator_budget import EvaluatorBudget
from services.store.spend.spend import DatabaseSpendStore
from tests.databases import engines_of

TODAY = date(2026, 5, 4)
STAGE = "grader-answer_quality"


def entry(stage: str = STAGE, day: date = TODAY) -> Entry:
    return Entry(
        battle_id="b1",
        stage=stage,
        model="m",
        day=day,
        tokens=Tokens(60, 40),
        cost=Money(Decimal("0.5")),
        source="usage",
    )


def budget(database: Database, limit: Limit, now: list[float]) -> EvaluatorBudget:
    return EvaluatorBudget(database, STAGE, limit, today=lambda: TODAY, clock=lambda: now[0])


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit(tokens=200), "200 of 200 tokens"),
        (Limit(money=Decimal(1)), "1.0000 of 1 USD"),
        (Limit(tokens=201, money=Decimal("1.01")), None),
        (Limit(), None),
    ],
)
async def test_only_the_calls_of_the_evaluator_and_the_day_count(
    database: Database, limit: Limit, said: str | None
) -> None:
    store = DatabaseSpendStore(database)
    for booked in (entry(), entry(), entry("judge"), entry("grader-other"), entry(day=date(2026, 5, 3))):
        await store.add(booked)
    assert await budget(database, limit, [0.0]).exhausted() == said


async def test_it_is_read_every_five_seconds(database: Database) -> None:
    now, store = [0.0], DatabaseSpendStore(database)
    own = budget(database, Limit(tokens=100), now)
    assert await own.exhausted() is None
    await store.add(entry())
    now[0] = 4.9
    assert await own.exhausted() is None
    now[0] = 5.0
    assert await own.exhausted() == "100 of 100 tokens"


async def test_evaluators_do_not_use_up_the_budget_of_the_battle(database: Database) -> None:
    store = DatabaseSpendStore(database)
    for stage in ("judge", STAGE):
        await store.add(entry(stage))
    assert (await store.of_battle("b1")).tokens.total == 100
    assert (await store.of_day(TODAY)).tokens.total == 200
    assert sum(line.calls for line in await Costs(database).of_battle("b1")) == 2


async def test_what_was_spent_is_not_summed_over_all_calls(database: Database) -> None:
    await DatabaseSpendStore(database).add(entry())
    statements: list[str] = []

    def remember(_c: Any, _cursor: Any, statement: str, _given: Any, _context: Any, _many: bool) -> None:
        statements.append(" ".join(statement.split()))

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)
    assert await budget(database, Limit(tokens=100), [0.0]).exhausted() == "100 of 100 tokens"
    assert [statement for statement in statements if "FROM spend_counters" in statement]
    assert not [statement for statement in statements if "FROM spend " in statement]


async def test_calls_in_other_currencies_and_without_a_price_cost_nothing(database: Database) -> None:
    store, own = DatabaseSpendStore(database), budget(database, Limit(money=Decimal("0.5")), [0.0])
    for cost in (None, Money(Decimal(9), "EUR"), Money(Decimal("0.4"))):
        await store.add(replace(entry(), cost=cost))
    assert await own.exhausted() is None
    await store.add(replace(entry(), cost=Money(Decimal("0.1"))))
    other_process = budget(database, Limit(money=Decimal("0.5")), [0.0])
    assert await other_process.exhausted() == "0.5000 of 0.5 USD"
