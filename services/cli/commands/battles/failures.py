"""`nuggetstream failures`: list, show, retry and discard dead letters and failed battles, over the API."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import click

from nuggetstream.client import Client, Conflict, NotFound
from nuggetstream.client.options import AdminFailureOptions
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.failures import FailureEntry
from services.cli.commands.administrator import JSON, asking_gateway, echo_each
from services.cli.commands.showing import with_options

_PAGE = 1000  # as many as the API lists
_LISTED = 50
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]

_FILTERS = (
    click.option(
        "--reason",
        type=click.Choice([reason.value for reason in Reason]),
        metavar="REASON",
        help=f"Only failures with this reason: {', '.join(Reason)}.",
    ),
    click.option(
        "--stage",
        type=click.Choice([stage.value for stage in Stage]),
        metavar="STAGE",
        help=f"Only this stage: {', '.join(Stage)}.",
    ),
    click.option("--arena", help="Only battles of this arena."),
    click.option("--since", type=click.DateTime(_TIMES), help="Only failures from this time on (UTC)."),
    click.option("--until", type=click.DateTime(_TIMES), help="Only failures before this time (UTC)."),
)


@click.group("failures")
def command() -> None:
    """List, show, retry or discard what the platform gave up: dead letters and failed battles.

    It asks a running gateway, and sends NUGGETSTREAM_API_KEY or else NUGGETSTREAM_ADMIN_TOKEN, if set.
    Without keys and a token, the gateway serves only programs on its own machine. Every action can be
    repeated safely.
    """


@command.command("list")
@with_options(_FILTERS)
@asking_gateway
@JSON
@click.option("--closed", is_flag=True, help="Also list failures that were discarded or resolved later.")
@click.option("--limit", type=click.IntRange(1, _PAGE), default=_LISTED, show_default=True)
def list_command(client: Client, as_json: bool, closed: bool, limit: int, **filters: Any) -> None:
    """List failures, newest first."""
    entries = client.admin_failures(**_options(filters, closed=closed, limit=limit))
    echo_each(entries, _line, as_json=as_json)


@command.command("show")
@click.argument("failure_id", metavar="ID")
@asking_gateway
@JSON
def show_command(client: Client, failure_id: str, as_json: bool) -> None:
    """Show one failure, with what the other side said."""
    entry = client.admin_failure(failure_id)
    if as_json:
        click.echo(entry.model_dump_json())
        return
    for name, value in entry.model_dump(mode="json").items():
        if value is not None:
            click.echo(f"{name.replace('_', ' '):<13}{value}")


_ACTION = (
    click.argument("ids", nargs=-1, metavar="[ID]..."),
    *_FILTERS,
    click.option("--all", "everything", is_flag=True, help="All open failures."),
    click.option(
        "--rate",
        type=click.FloatRange(0, 10, min_open=True),
        default=5.0,
        show_default=True,
        help="Failures handled per second.",
    ),
)


@command.command("retry", short_help="Do the work of failures again.")
@with_options(_ACTION)
@asking_gateway
@JSON
def retry_command(client: Client, ids: tuple[str, ...], **given: Any) -> None:
    """Do the work of failures again: those named by ID, or those that the filters select.

    A failed battle runs again from the stages that failed, and what was paid for is reused. A vote that
    was given up is published again, and so is the message of a dead letter.
    """
    _act(client, "retry", ids, **given)


@command.command("discard", short_help="Remove failures from the list.")
@with_options(_ACTION)
@asking_gateway
@JSON
def discard_command(client: Client, ids: tuple[str, ...], **given: Any) -> None:
    """Remove failures from the list: those named by ID, or those that the filters select.

    A battle stays failed, and the message of a dead letter is deleted.
    """
    _act(client, "discard", ids, **given)


def _act(
    client: Client,
    action: Literal["retry", "discard"],
    ids: Sequence[str],
    *,
    everything: bool,
    rate: float,
    as_json: bool,
    **filters: Any,
) -> None:
    selected = {name: value for name, value in filters.items() if value is not None}
    if bool(ids) + bool(selected or everything) != 1:
        raise click.UsageError("name failures by their ID, or select them by filters or --all")
    results = Counter[str]()
    for failure_id in ids or _selected(client, filters):
        if results:
            time.sleep(1 / rate)
        try:
            done = client.act_on_failure(failure_id, action)
        except (Conflict, NotFound) as error:  # the others are handled all the same
            results["rejected"] += 1
            click.echo(f"{failure_id}  {error}", err=True)
            continue
        results[done.result] += 1
        click.echo(done.model_dump_json() if as_json else f"{done.id}  {done.result}")
    if not as_json:
        counts = [f"{count:,} {result}" for result, count in results.items()]
        click.echo(", ".join(counts) or "no failures", err=True)
    if results["rejected"]:
        raise SystemExit(1)


def _selected(client: Client, filters: dict[str, Any]) -> Iterator[str]:
    """The ids of all failures that filters select, newest first and each once."""
    options, handled = _options(filters), set[str]()
    while entries := client.admin_failures(**options):
        yield from (entry.id for entry in entries if entry.id not in handled)
        if handled.issuperset(entry.id for entry in entries):
            return
        handled.update(entry.id for entry in entries)
        # Others may have happened at the same time.
        options["until"] = entries[-1].failed_at + timedelta.resolution


def _options(filters: dict[str, Any], *, closed: bool = False, limit: int = _PAGE) -> AdminFailureOptions:
    return AdminFailureOptions(
        reason=filters["reason"],
        stage=filters["stage"],
        arena=filters["arena"],
        since=_utc(filters["since"]),
        until=_utc(filters["until"]),
        closed=closed,
        limit=limit,
    )


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _line(entry: FailureEntry) -> str:
    subject = "message" if entry.battle_id is None else f"{entry.arena}/{json.dumps(entry.battle_id)[1:-1]}"
    moment = entry.failed_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    closed = "" if entry.open else " (closed)"
    return f"{entry.id}  {moment}  {_stage(entry)}  {entry.reason}  {subject}{closed}: {entry.detail}"


def _stage(entry: FailureEntry) -> str:
    return entry.stage if entry.evaluator is None else f"{entry.stage} ({entry.evaluator})"
