"""The page of operations, and the list of arenas."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from services.access.callers import Role
from services.access.keys import NewKey
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.database import Database
from services.store.spend.costs import Costs
from services.store.spend.spend import DatabaseSpendStore
from services.wire.subjects import STREAM_DEAD
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.world import Story, World, battle


def entry(battle_id: str, stage: str = "judge", amount: str | None = "0.25", **more: Any) -> Entry:
    fields: dict[str, Any] = {
        "battle_id": battle_id,
        "stage": stage,
        "model": "m",
        "day": datetime.now(UTC).date(),
        "tokens": Tokens(1000, 50),
        "cost": None if amount is None else Money(Decimal(amount), "USD"),
        "source": "usage",
    }
    return Entry(**(fields | more))


@pytest.fixture
async def keys(record: Database) -> dict[str, NewKey]:
    """Keys that were made before the platform started, which then needs one for everything."""
    return {
        "all": await issued(record, Role.ADMIN, Role.READ, arenas=None),
        "demo": await issued(record, Role.ADMIN, Role.READ),
    }


async def told(world: World) -> None:
    for battle_id, arena in (("one", "demo"), ("two", "other")):
        await world.happens(Story(battle(id=battle_id, arena=arena)).submitted())
    store = DatabaseSpendStore(world.database)
    for each in (
        entry("one"),
        entry("one", "grader-answer_quality", None, model="local"),
        entry("two", amount="1"),
        entry("gone", amount="8"),
    ):
        await store.add(each)


def section(page: str, title: str) -> dict[str, str]:
    """The last column of a table, by the first."""
    table = page.split(f'aria-label="{title}"')[1].split("</table>", maxsplit=1)[0]
    cell = r"<td[^>]*>([^<]*)</td>"
    rows = re.findall(r'<tr><th scope="row"[^>]*>([^<]*)</th>(.*?)</tr>', table, re.DOTALL)
    return {name: re.findall(cell, cells)[-1].strip() for name, cells in rows}


async def test_costs_are_counted_by_arena_stage_and_model(keys: dict[str, NewKey], world: World) -> None:
    await told(world)
    page = (await world.http.get("/operations", headers=bearer(keys["all"]))).text
    assert section(page, "Costs by arena") == {
        "battles that were deleted": "8.00 USD",
        "demo": "at least 0.25 USD",
        "other": "1.00 USD",
    }
    assert section(page, "Costs by stage") == {"judge": "9.25 USD", "answer quality": "price unknown"}
    assert section(page, "Costs by model") == {"m": "9.25 USD", "local": "price unknown"}
    assert "4 model calls, 4,200 tokens, at least 9.25 USD" in page
    booked = await Costs(world.database).of_battle("one")
    assert [(line.stage, line.amount, line.currency) for line in booked] == [
        ("grader-answer_quality", None, None),
        ("judge", Decimal("0.25"), "USD"),
    ]


async def test_an_administrator_of_one_arena_sees_its_costs_and_nothing_of_the_installation(
    keys: dict[str, NewKey], world: World
) -> None:
    await told(world)
    page = (await world.http.get("/operations", headers=bearer(keys["demo"]))).text
    assert section(page, "Costs by arena") == {"demo": "at least 0.25 USD"}
    assert "Stream ARENA" not in page
    other = await world.http.get("/operations", params={"arena": "other"}, headers=bearer(keys["demo"]))
    assert other.status_code == 403
    listed = (await world.http.get("/arenas", headers=bearer(keys["demo"]))).text
    assert ">demo</a>" in listed
    assert ">other</a>" not in listed


async def test_stages_that_nobody_reads_and_dead_letters_are_shown(
    keys: dict[str, NewKey], world: World
) -> None:
    accepted = await world.http.post(
        "/v1/battles",
        json={"query": "Why?", "a": {"system": "x", "text": "A."}, "b": {"system": "y", "text": "B."}},
        headers=bearer(await issued(world.database, Role.SUBMIT, arenas=None)),
    )
    assert accepted.status_code == 202
    page = (await world.http.get("/operations", headers=bearer(keys["all"]))).text
    stages = section(page, "Consumers of ARENA")
    assert stages["scraper"] == "none: no process reads"
    assert re.search(r'>scraper</th><td class="number" data-label="Waiting">1</td>', page)
    dead = page.split(f'id="stream-{STREAM_DEAD}"')[1]
    assert "None." in dead.split("</section>")[0]


async def test_a_battle_page_has_the_cost_of_every_stage(world: World) -> None:
    await world.happens(*Story(battle()).told())
    await DatabaseSpendStore(world.database).add(entry("tides", amount="0.0015"))
    page = (await world.http.get("/battles/tides")).text
    stages = page.split('id="stages"')[1].split("</details>")[0]
    assert "1 model call, 0.0015 USD" in stages
    assert re.search(
        r'>Judge</th>.*?<td class="number" data-label="Cost">0\.0015 USD</td>\s*</tr>', stages, re.DOTALL
    )
