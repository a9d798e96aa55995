"""`nuggetstream retention`: delete battles that are older than an age, over the API."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from nuggetstream.client import Client
from nuggetstream.views.deletion import Expiry
from services.cli.commands.administrator import asking_gateway

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_MOST = 100  # battles per request


class Age(click.ParamType[timedelta]):
    """An age such as 90d, 12h or 8w."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The age; a usage error where there is none."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", value)
        if match is None:
            self.fail(f"{value!r} is no age: write 90d, 12h or 8w", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


@click.command("retention")
@click.option(
    "--older-than", type=Age(), required=True, help="Age since receipt: 90d, 12h or 8w (days, hours, weeks)."
)
@click.option("--arena", help="Only battles of this arena.")
@click.option("--dry-run", is_flag=True, help="Delete nothing; print how many battles would be deleted.")
@click.option(
    "--rate",
    type=click.FloatRange(0, 1000, min_open=True),
    default=20.0,
    show_default=True,
    help="Battles deleted per second at most.",
)
@asking_gateway
def command(client: Client, older_than: timedelta, arena: str | None, dry_run: bool, rate: float) -> None:
    """Delete the battles that ended and were received longer ago than an age, the oldest first.

    Each is deleted as `nuggetstream delete` does, in batches, so the command can be interrupted and
    repeated.
    """
    before = datetime.now(UTC) - older_than
    if dry_run:
        counted = client.delete_expired(before=before, arena=arena, dry_run=True)
        click.echo(f"{counted.battles:,} battles received before {before:%Y-%m-%d %H:%M} UTC")
        return
    battles = delete_all(client, before, arena, rate)
    click.echo(f"{battles:,} battles deleted, received before {before:%Y-%m-%d %H:%M} UTC")


def delete_all(
    client: Client,
    before: datetime,
    arena: str | None,
    rate: float,
    sleep: Callable[[float], object] = time.sleep,
) -> int:
    """Delete batches until none is left.

    Args:
        client: Client of the gateway.
        before: Time before which the battles were received.
        arena: Only battles of this arena; None for all.
        rate: Battles deleted per second at most.
        sleep: Waits between two batches.

    Returns:
        Number of battles deleted.
    """
    limit = max(1, min(_MOST, int(rate)))
    battles = 0
    while True:
        started = time.monotonic()
        done: Expiry = client.delete_expired(before=before, arena=arena, limit=limit)
        battles += done.battles
        if not done.more:
            return battles
        sleep(max(0.0, done.battles / rate - (time.monotonic() - started)))
