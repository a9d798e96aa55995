"""`nuggetstream keys` on a database of its own."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli.main import main
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore
from tests.databases import copy_of
from tests.samples import battle


@pytest.fixture
def url(migrated_sqlite: Path, tmp_path: Path) -> str:
    return copy_of(migrated_sqlite, tmp_path)


def run(url: str, *arguments: str, **more: str) -> Result:
    return CliRunner().invoke(main, ["keys", *arguments], env={"NUGGETSTREAM_DATABASE_URL": url} | more)


def test_keys_are_created_listed_rotated_and_revoked(url: str) -> None:
    made = run(
        url, "create", "arena", "--role", "submit", "--role", "vote", "--arena", "mine", "--days", "90"
    )
    assert made.exit_code == 0, made.output
    key_id, token = made.stderr.split()[1], made.stdout.strip()
    assert token.startswith(f"ngs_{key_id}_")
    assert (
        run(url, "create", "Ada", "--user", "ada@example.org", "--role", "read", "--all-arenas").exit_code
        == 0
    )
    again = run(url, "create", "Ada", "--user", "ada@example.org", "--role", "read", "--all-arenas")
    assert "has rights already" in again.output
    rotated = run(url, "rotate", key_id, "--overlap-hours", "2")
    assert rotated.stdout.strip() not in ("", token)
    assert run(url, "revoke", key_id).exit_code == 0
    listed = run(url, "list", "--json").stdout
    assert token.split("_", 2)[2] not in listed
    keys = [json.loads(line) for line in listed.splitlines()]
    assert [(key["name"], key["state"].split()[0]) for key in keys] == [
        ("arena", "revoked"),
        ("Ada", "valid"),
        ("arena", "valid"),
    ]
    assert (keys[2]["replaces"], keys[2]["roles"], keys[2]["arenas"]) == (
        key_id,
        ["submit", "vote"],
        ["mine"],
    )
    assert "arena" in run(url, "list").stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["create", "x", "--role", "read"], "--all-arenas"),
        (["create", "x", "--role", "read", "--arena", "a", "--all-arenas"], "--all-arenas"),
        (["create", "x", "--arena", "a"], "--role"),
        (["create", "x", "--role", "owner", "--arena", "a"], "owner"),
        (["revoke", "unknown"], "there is no key 'unknown'"),
        (["rotate", "unknown"], "that can be rotated"),
    ],
)
def test_what_cannot_be_done_is_said(url: str, arguments: list[str], problem: str) -> None:
    result = run(url, *arguments)
    assert result.exit_code != 0
    assert problem in result.output


async def _spend(url: str, key: str, day: date) -> None:
    database = Database(url)
    try:
        sent = NewBattle(replace(battle(), id=f"sent with {key}"), b"", key_name=key)
        await Battles(database).accept_all([sent], datetime.now(UTC))
        cost = Money(Decimal("0.25"), "EUR")
        tokens = Tokens(input=3, output=1)
        entry = Entry(
            battle_id=sent.battle.id,
            stage="judge",
            model="m",
            day=day,
            tokens=tokens,
            cost=cost,
            source="usage",
        )
        await DatabaseSpendStore(database, "EUR").add(entry)
        await DatabaseSpendStore(database, "EUR").add(replace(entry, cost=None))
        await DatabaseSpendStore(database, "EUR").add(replace(entry, day=day.replace(year=2000)))
    finally:
        await database.close()


def test_the_list_shows_what_keys_of_a_name_with_a_budget_cost_today(url: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'currency = "EUR"\n[models.m]\ninput = 1\noutput = 1\n'
        '[keys."site a"]\nday_money = "1.5"\nday_tokens = 1000\n[keys."site b"]\nday_money = "2"\n'
    )
    for name in ("site a", "site b", "site c"):
        assert run(url, "create", name, "--role", "submit", "--all-arenas").exit_code == 0
    for name in ("site a", "site c"):
        asyncio.run(_spend(url, name, datetime.now(UTC).date()))
    listed = run(url, "list", NUGGETSTREAM_LLM_PRICES=str(prices)).stdout.splitlines()
    assert "8 of 1,000 tokens today  0.2500 of 1.5 EUR today  1 calls without a price today: " in listed[0]
    assert listed[1].endswith("  0.0000 of 2 EUR today: site b")
    assert "today" not in listed[2]
    lines = run(url, "list", "--json", NUGGETSTREAM_LLM_PRICES=str(prices)).stdout.splitlines()
    spent, unspent, unlimited = (json.loads(line)["budget"] for line in lines)
    assert spent == {
        "day_tokens": 1000,
        "day_money": "1.5",
        "currency": "EUR",
        "tokens_today": 8,
        "money_today": "0.250000000000",
        "calls_without_price_today": 1,
    }
    assert (unspent["tokens_today"], unspent["day_tokens"], unlimited) == (0, None, None)
    assert "today" not in run(url, "list").stdout
    missing = run(url, "list", NUGGETSTREAM_LLM_PRICES=str(tmp_path / "none.toml"))
    assert missing.exit_code == 1
    assert "the budgets of keys cannot be read: " in missing.output
