"""`nuggetstream audit`: who did what, over the API."""

from datetime import UTC

import click

from nuggetstream.client.calls import LOCAL
from services.cli.commands.administrator import connected


@click.command("audit")
@click.option("--arena", help="Only actions in this arena.")
@click.option("--key", "key_id", help="Only actions of the key with this ID.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--url", default=LOCAL, show_default=True, help="Base URL of the gateway.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(arena: str | None, key_id: str | None, limit: int, url: str, as_json: bool) -> None:
    """List who did what, newest first: time, key, action, arena.

    The newest 100,000 actions are kept. It asks a running gateway, as `nuggetstream failures` does.
    """
    with connected(url) as client:
        entries = client.audit(arena=arena, key=key_id, limit=limit)
    for entry in entries:
        if as_json:
            click.echo(entry.model_dump_json())
            continue
        about = [part for part in (entry.arena, entry.subject) if part is not None]
        moment = f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        click.echo("  ".join([moment, entry.key, entry.action, *about]))
