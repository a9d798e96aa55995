"""Budgets on the page of operations: the limits, what calls of today have cost, and what is left."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from services.access.callers import Role
from services.gateway.operations.budgets import BudgetLine, Budgets, DayBudget
from services.runtime.bus import Bus
from services.runtime.llm.budget import Limit
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.pages.test_operations import entry
from tests.integration.gateway.world import Story, battle, opened

BUDGETS = Budgets(
    Limit(tokens=50_000),
    (
        DayBudget("All model calls", Limit(tokens=10_000, money=Decimal(2))),
        DayBudget("answer quality", Limit(tokens=1_000), "grader-answer_quality"),
    ),
)


def cells(page: str) -> list[tuple[str, ...]]:
    table = page.split('aria-label="Budgets of today"')[1].split("</table>", maxsplit=1)[0]
    row = (
        r'<th scope="row">([^<]+) <small[^>]*>(\w+)</small></th>'
        + r'\s*<td class="number" data-label="[^"]*">(.+?)</td>' * 3
    )
    return re.findall(row, table)


async def test_limits_are_beside_what_all_arenas_spent_today(bus: Bus, record: Database) -> None:
    every, demo = [await issued(record, Role.ADMIN, Role.READ, arenas=of) for of in (None, ("demo",))]
    async with opened(bus, record, budgets=BUDGETS) as world:
        await world.happens(Story(battle()).submitted())
        store = DatabaseSpendStore(world.database)
        await store.add(entry("tides", amount="0.5"))
        await store.add(entry("tides", "grader-answer_quality", amount="0.25"))
        await store.add(entry("tides", amount="1", day=datetime.now(UTC).date() - timedelta(days=1)))
        page = (await world.http.get("/operations", headers=bearer(every))).text
        assert "Scoring one battle may cost 50,000 tokens." in page
        assert cells(page) == [
            ("All model calls", "tokens", "10000", "2100", "7900"),
            ("All model calls", "USD", "2.0000", "0.7500", "1.2500"),
            ("answer quality", "tokens", "1000", "1050", "<strong>used up</strong>"),
        ]
        of_demo = (await world.http.get("/operations", headers=bearer(demo))).text
        assert "Budgets" not in of_demo


async def test_a_budget_that_cannot_be_read_is_named(bus: Bus, record: Database) -> None:
    async with opened(bus, record, budgets=Budgets(problem="options.toml: there is no such file")) as world:
        page = (await world.http.get("/operations")).text
        assert "Further budgets are not known here: options.toml: there is no such file" in page


def test_what_is_left_is_never_negative() -> None:
    line = BudgetLine("x", "tokens", Decimal(10), Decimal(15))
    assert (line.left, line.share) == (Decimal(0), 1.0)
    assert BudgetLine("x", "tokens", Decimal(0), Decimal(0)).share == 1.0
