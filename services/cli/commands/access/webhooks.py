"""`nuggetstream webhooks`: add, list, test, rotate, retry and remove webhooks, over the API."""

from typing import Any

import click

from nuggetstream.client.calls import LOCAL
from nuggetstream.files.webhook import LONGEST_OVERLAP
from nuggetstream.views.webhooks import WebhookFailure, WebhookView
from services.cli.commands.administrator import connected

_MOST = 1000
_URL = click.option("--url", "gateway", default=LOCAL, show_default=True, help="Base URL of the gateway.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
_ID = click.argument("webhook_id", metavar="ID")


@click.group("webhooks")
def command() -> None:
    """Send events of battles to other programs, signed, and see what they have not accepted.

    It asks a running gateway with NUGGETSTREAM_API_KEY (role admin) or NUGGETSTREAM_ADMIN_TOKEN, if set.
    docs/webhooks.md says what arrives, and how to check the signature.
    """


@command.command("add")
@click.argument("url", metavar="URL")
@click.option("--arena", default="default", show_default=True, help="Arena of the battles.")
@click.option("--kind", "kinds", multiple=True, help="Only events of this kind; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Only battles with this tag; may be repeated.")
@click.option("--language", "languages", multiple=True, help="Only this language; may be repeated.")
@_URL
def add_command(url: str, *, arena: str, gateway: str, **filters: Any) -> None:
    """Send events to URL from now on. The secret is printed once."""
    with connected(gateway) as client:
        added = client.add_webhook(url, arena, **filters)
    click.echo(f"id   {added.id}", err=True)
    click.echo(added.secret)


@command.command("list")
@click.option("--arena", help="Only webhooks of this arena.")
@_URL
@_JSON
def list_command(arena: str | None, gateway: str, as_json: bool) -> None:
    """List webhooks, the oldest first, and how their receivers answer."""
    with connected(gateway) as client:
        webhooks = client.webhooks(arena)
    for webhook in webhooks:
        click.echo(webhook.model_dump_json() if as_json else _line(webhook))


@command.command("remove")
@_ID
@_URL
def remove_command(webhook_id: str, gateway: str) -> None:
    """Remove the webhook with this ID. What waits for its receiver is forgotten."""
    with connected(gateway) as client:
        client.remove_webhook(webhook_id)
    click.echo(f"removed {webhook_id}")


@command.command("rotate")
@_ID
@click.option(
    "--overlap-hours",
    type=click.FloatRange(0, LONGEST_OVERLAP),
    default=24.0,
    show_default=True,
    help="Hours for which events are signed with both secrets.",
)
@_URL
def rotate_command(webhook_id: str, overlap_hours: float, gateway: str) -> None:
    """Give the webhook with this ID a new secret, printed once. The old one ends after the overlap."""
    with connected(gateway) as client:
        webhook = client.rotate_webhook(webhook_id, overlap_hours)
    until = webhook.previous_secret_until
    click.echo(
        f"id   {webhook.id}; the secret before signs as well until {until:%Y-%m-%d %H:%M} UTC", err=True
    )
    click.echo(webhook.secret)


@command.command("test")
@_ID
@_URL
def try_command(webhook_id: str, gateway: str) -> None:
    """Send one event of the kind `test` to the receiver. The exit code is 1 if it does not accept it."""
    with connected(gateway) as client:
        result = client.test_webhook(webhook_id)
    if not result.accepted:
        raise click.ClickException(result.detail)
    click.echo(result.detail)


@command.command("retry", short_help="Switch a webhook on, and send what was left.")
@_ID
@_URL
def retry_command(webhook_id: str, gateway: str) -> None:
    """Switch the webhook with this ID on, and send again what was not accepted."""
    with connected(gateway) as client:
        action = client.retry_webhook(webhook_id)
    click.echo(f"{action.events} events are sent again")


@command.command("failures", short_help="List events that the receiver has not accepted.")
@_ID
@click.option("--limit", type=click.IntRange(1, _MOST), default=50, show_default=True)
@_URL
@_JSON
def failures_command(webhook_id: str, limit: int, gateway: str, as_json: bool) -> None:
    """List events that the receiver has not accepted: first those given up."""
    with connected(gateway) as client:
        failures = client.webhook_failures(webhook_id, limit)
    for failure in failures:
        click.echo(failure.model_dump_json() if as_json else _event(failure))


def _line(webhook: WebhookView) -> str:
    state = "on" if webhook.enabled else "off"
    wanted = ",".join([*webhook.kinds, *webhook.tags, *webhook.languages]) or "all events"
    problem = f": {webhook.last_error}" if webhook.last_error else ""
    return f"{webhook.id}  {state}  {webhook.arena}  {webhook.url}  {wanted}{problem}"


def _event(failure: WebhookFailure) -> str:
    state = "given up" if failure.next_at is None else f"again at {failure.next_at:%Y-%m-%d %H:%M:%S}"
    event = f"{failure.battle_id} {failure.number} {failure.kind}"
    return f"{event}  {state}  {failure.attempts} attempts: {failure.reason}"
