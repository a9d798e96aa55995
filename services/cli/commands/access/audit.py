"""`nuggetstream audit`: who did what, over the API."""

from datetime import UTC

import click

from nuggetstream.client import Client
from nuggetstream.views.audit import AuditView
from services.cli.commands.administrator import JSON, asking_gateway, echo_each


@click.command("audit")
@click.option("--arena", help="Only actions in this arena.")
@click.option("--key", "key_id", help="Only actions of the key with this ID.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@asking_gateway
@JSON
def command(client: Client, arena: str | None, key_id: str | None, limit: int, as_json: bool) -> None:
    """List who did what, newest first: time, key, action, arena.

    The newest 100,000 actions are kept. It asks a running gateway, as `nuggetstream failures` does.
    """
    entries = client.audit(arena=arena, key=key_id, limit=limit)
    echo_each(entries, _line, as_json=as_json)


def _line(entry: AuditView) -> str:
    about = [part for part in (entry.arena, entry.subject) if part is not None]
    moment = f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return "  ".join([moment, entry.key, entry.action, *about])
