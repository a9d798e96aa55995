"""`nuggetstream keys`: create, list, rotate and revoke API keys, in the database."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from nuggetstream.views.audit import AuditView
from services.access.callers import Role
from services.access.keys import LIFETIME, NewKey
from services.cli.wiring.prepared import prepared_database
from services.cli.wiring.process import read_settings
from services.cli.wiring.settings import PlatformSettings
from services.runtime.errors import StageError
from services.runtime.llm.accounting import Spend
from services.runtime.llm.prices import PriceTable
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import KNOWN
from services.store.access.api_keys import ApiKeys, StoredKey, today
from services.store.access.audit_log import AuditLog
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore

T = TypeVar("T")
_WHO = "command"

_DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of `nuggetstream up`; NUGGETSTREAM_DATABASE_URL when absent.",
)


@click.group("keys")
def command() -> None:
    """Create, list, rotate or revoke API keys.

    Keys are in the database; it must be reachable from here. Running gateways notice a change within 10
    seconds. docs/access.md has roles and examples.
    """


@command.command("create")
@click.argument("name", metavar="NAME")
@click.option(
    "--role", "roles", type=click.Choice([role.value for role in Role]), multiple=True, required=True
)
@click.option("--arena", "arenas", multiple=True, help="Arena in which it has the roles; may be repeated.")
@click.option("--all-arenas", is_flag=True, help="All arenas, including future ones.")
@click.option(
    "--days", type=click.FloatRange(0, min_open=True), help="Days until it expires.  [default: never]"
)
@click.option("--per-minute", type=click.IntRange(1), help="Requests per minute, at each gateway.")
@click.option("--battles-per-day", type=click.IntRange(0), help="Battles that it may submit per day (UTC).")
@click.option("--user", "proxy_user", help="Not a key: give the rights to this user of a trusted proxy.")
@_DATA_DIR
def create_command(
    name: str,
    *,
    roles: tuple[str, ...],
    arenas: tuple[str, ...],
    all_arenas: bool,
    days: float | None,
    per_minute: int | None,
    battles_per_day: int | None,
    proxy_user: str | None,
    data_dir: Path | None,
) -> None:
    """Create a key; NAME says what it is for. The key is printed once, and only its hash is stored."""
    if bool(arenas) == all_arenas:
        raise click.UsageError("name arenas with --arena, or give --all-arenas")
    made, now = NewKey.make(), datetime.now(UTC)
    key = StoredKey(
        id=made.id,
        name=name,
        hash=None if proxy_user else made.hash,
        proxy_user=proxy_user or None,
        roles=tuple(dict.fromkeys(roles)),
        arenas=None if all_arenas else tuple(dict.fromkeys(arenas)),
        per_minute=per_minute,
        battles_per_day=battles_per_day,
        created_at=now,
        expires_at=None if days is None else now + timedelta(days=days),
    )

    async def create(database: Database) -> None:
        keys = ApiKeys(database)
        if proxy_user and await keys.of_user(proxy_user) is not None:
            raise click.ClickException(f"the user {proxy_user!r} has rights already; revoke them first")
        await keys.add(key)
        await _log(database, "create key", key.id)

    _with_database(data_dir, create)
    click.echo(f"id   {made.id}", err=True)
    click.echo(made.token if not proxy_user else f"{made.id} for the user {proxy_user}")


@command.command("list", short_help="List all keys, the oldest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@_DATA_DIR
def list_command(as_json: bool, data_dir: Path | None) -> None:
    """List all keys, the oldest first, with what is used of their quotas and budgets today (UTC).

    A budget is that of all keys of a name, from the price file that NUGGETSTREAM_LLM_PRICES names.
    """
    now, budgets = datetime.now(UTC), _budgets()

    async def read(database: Database) -> tuple[list[StoredKey], _Used]:
        keys, store = ApiKeys(database), DatabaseSpendStore(database, budgets.currency)
        spent = {name: await store.of_part_and_day("key", name, today(now)) for name in budgets.keys}
        return await keys.all(), _Used(now, await keys.used(today(now)), budgets, spent)

    stored, used = _with_database(data_dir, read)
    for key in stored:
        click.echo(_json(key, used) if as_json else _line(key, used))


@command.command("revoke")
@click.argument("key_id", metavar="ID")
@_DATA_DIR
def revoke_command(key_id: str, data_dir: Path | None) -> None:
    """Revoke the key with this ID, and end its logins. Revoking it twice changes nothing."""

    async def revoke(database: Database) -> bool:
        if not await ApiKeys(database).revoke(key_id, datetime.now(UTC)):
            return False
        await _log(database, "revoke key", key_id)
        return True

    if not _with_database(data_dir, revoke):
        raise click.ClickException(f"there is no key {key_id!r}")
    click.echo(f"revoked {key_id}; gateways reject it within {LIFETIME:g} seconds")


@command.command("rotate", short_help="Replace the key with this ID.")
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap-hours",
    type=click.FloatRange(0),
    default=24.0,
    show_default=True,
    help="Hours for which the old key works beside the new one.",
)
@_DATA_DIR
def rotate_command(key_id: str, overlap_hours: float, data_dir: Path | None) -> None:
    """Make a new key with the rights of the key with this ID, which expires after the overlap."""
    made, now = NewKey.make(), datetime.now(UTC)
    until = now + timedelta(hours=overlap_hours)

    async def rotate(database: Database) -> None:
        keys = ApiKeys(database)
        key = await keys.get(key_id)
        if key is None or key.hash is None or not key.valid_at(now):
            raise click.ClickException(f"there is no key {key_id!r} that can be rotated")
        await keys.rotate(key, made.hash, made.id, now, until)
        await _log(database, "rotate key", key_id)

    _with_database(data_dir, rotate)
    click.echo(f"id   {made.id}; {key_id} works until {until:%Y-%m-%d %H:%M} UTC", err=True)
    click.echo(made.token)


async def _log(database: Database, action: str, key_id: str) -> None:
    entry = AuditView(at=datetime.now(UTC), key=_WHO, action=action, subject=key_id)
    await AuditLog(database).add(entry)


def _with_database(data_dir: Path | None, work: Callable[[Database], Awaitable[T]]) -> T:
    url = read_settings(PlatformSettings).database_url
    if data_dir is not None:
        url = f"sqlite+aiosqlite:///{data_dir / 'nuggetstream.db'}"

    async def run() -> T:
        try:
            async with prepared_database(url, connections=1) as database:
                return await work(database)
        except StageError as error:
            raise click.ClickException(KNOWN.redact(error.for_operators)) from error

    return asyncio.run(run())


@dataclass(frozen=True, slots=True)
class _Used:
    """What keys have used today: battles by id, and what calls cost by name, where the name has a budget."""

    now: datetime
    battles: dict[str, int]
    budgets: PriceTable
    spent: dict[str, Spend]


def _budgets() -> PriceTable:
    path = read_settings(LLMSettings).prices
    try:
        return PriceTable() if path is None else PriceTable.load(path)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"the budgets of keys cannot be read: {error}") from error


def _line(key: StoredKey, used: _Used) -> str:
    arenas = "all arenas" if key.arenas is None else ",".join(key.arenas)
    parts = [key.id, _state(key, used.now), ",".join(key.roles), arenas]
    parts += [f"user {key.proxy_user}"] if key.proxy_user else []
    parts += [f"{key.per_minute}/minute"] if key.per_minute is not None else []
    if key.battles_per_day is not None:
        parts.append(f"{used.battles.get(key.id, 0)} of {key.battles_per_day} battles today")
    if (limit := used.budgets.day_limit("key", key.name)) is not None:
        spent = used.spent[key.name]
        if limit.tokens is not None:
            parts.append(f"{spent.tokens.total:,} of {limit.tokens:,} tokens today")
        if limit.money is not None:
            parts.append(f"{spent.amount:.4f} of {limit.money} {used.budgets.currency} today")
        parts += [f"{spent.unpriced} calls without a price today"] if spent.unpriced else []
    return "  ".join(parts) + f": {key.name}"


def _state(key: StoredKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "valid"
    return f"{'valid' if now < key.expires_at else 'expired'} until {key.expires_at:%Y-%m-%d %H:%M}"


def _json(key: StoredKey, used: _Used) -> str:
    shown: dict[str, Any] = asdict(key) | {"state": _state(key, used.now)}
    shown |= {"battles_today": used.battles.get(key.id, 0), "budget": None}
    if (limit := used.budgets.day_limit("key", key.name)) is not None:
        spent = used.spent[key.name]
        shown["budget"] = {
            "day_tokens": limit.tokens,
            "day_money": limit.money,
            "currency": used.budgets.currency,
            "tokens_today": spent.tokens.total,
            "money_today": spent.amount,
            "calls_without_price_today": spent.unpriced,
        }
    del shown["hash"]
    return json.dumps(shown, default=str)
