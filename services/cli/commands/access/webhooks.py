"""`nuggetstream webhooks`: add, list, test, rotate, retry and remove webhooks, over the API."""

from typing import Any

import click

from nuggetstream.client import Client
from nuggetstream.files.webhook import LONGEST_OVERLAP
from nuggetstream.views.webhooks import WebhookFailure, WebhookView
from services.cli.commands.administrator import JSON, asking_gateway, echo_each

_MOST = 1000
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
@asking_gateway
def add_command(client: Client, url: str, *, arena: str, **filters: Any) -> None:
    """Send events to URL from now on. The secret is printed once."""
    added = client.add_webhook(url, arena, **filters)
    click.echo(f"id   {added.id}", err=True)
    click.echo(added.secret)


@command.command("list")
@click.option("--arena", help="Only webhooks of this arena.")
@asking_gateway
@JSON
def list_command(client: Client, arena: str | None, as_json: bool) -> None:
    """List webhooks, the oldest first, and how their receivers answer."""
    webhooks = client.webhooks(arena)
    echo_each(webhooks, _line, as_json=as_json)


@command.command("remove")
@_ID
@asking_gateway
def remove_command(client: Client, webhook_id: str) -> None:
    """Remove the webhook with this ID. What waits for its receiver is forgotten."""
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
@asking_gateway
def rotate_command(client: Client, webhook_id: str, overlap_hours: float) -> None:
    """Give the webhook with this ID a new secret, printed once. The old one ends after the overlap."""
    webhook = client.rotate_webhook(webhook_id, overlap_hours)
    until = webhook.previous_secret_until
    click.echo(
        f"id   {webhook.id}; the secret before signs as well until {until:%Y-%m-%d %H:%M} UTC", err=True
    )
    click.echo(webhook.secret)


@command.command("test")
@_ID
@asking_gateway
def try_command(client: Client, webhook_id: str) -> None:
    """Send one event of the kind `test` to the receiver. The exit code is 1 if it does not accept it."""
    result = client.test_webhook(webhook_id)
    if not result.accepted:
        raise click.ClickException(result.detail)
    click.echo(result.detail)


@command.command("retry", short_help="Switch a webhook on, and send what was left.")
@_ID
@asking_gateway
def retry_command(client: Client, webhook_id: str) -> None:
    """Switch the webhook with this ID on, and send again what was not accepted."""
    action = client.retry_webhook(webhook_id)
    click.echo(f"{action.events} events are sent again")


@command.command("failures", short_help="List events that the receiver has not accepted.")
@_ID
@click.option("--limit", type=click.IntRange(1, _MOST), default=50, show_default=True)
@asking_gateway
@JSON
def failures_command(client: Client, webhook_id: str, limit: int, as_json: bool) -> None:
    """List events that the receiver has not accepted: first those given up."""
    failures = client.webhook_failures(webhook_id, limit)
    echo_each(failures, _event, as_json=as_json)


def _line(webhook: WebhookView) -> str:
    state = "on" if webhook.enabled else "off"
    wanted = ",".join([*webhook.kinds, *webhook.tags, *webhook.languages]) or "all events"
    problem = f": {webhook.last_error}" if webhook.last_error else ""
    return f"{webhook.id}  {state}  {webhook.arena}  {webhook.url}  {wanted}{problem}"


def _event(failure: WebhookFailure) -> str:
    state = "given up" if failure.next_at is None else f"again at {failure.next_at:%Y-%m-%d %H:%M:%S}"
    event = f"{failure.battle_id} {failure.number} {failure.kind}"
    return f"{event}  {state}  {failure.attempts} attempts: {failure.reason}"
