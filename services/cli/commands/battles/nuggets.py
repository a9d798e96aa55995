"""`nuggetstream nuggets`: show and edit the nugget list of a battle, over the API."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from pydantic_core import to_json

from nuggetstream.client import Client
from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Importance, Support
from nuggetstream.domain.nugget_edit import EditKind, RecordedEdit
from nuggetstream.views.battles import BattleView, NuggetView
from nuggetstream.views.labels import LabelView
from services.cli.commands.administrator import asking_gateway

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_IMPORTANCE = click.Choice([importance.value for importance in Importance])
_NUMBER = click.IntRange(min=1)
_SIDE, _LABEL = click.Choice([side.value for side in Side]), click.Choice([label.value for label in Support])


@click.group("nuggets")
def command() -> None:
    """Show or edit the nugget list of a battle.

    It asks a running gateway, and sends NUGGETSTREAM_API_KEY or else NUGGETSTREAM_ADMIN_TOKEN, if set.
    Without keys and a token, the gateway lets only programs on its own machine edit.
    """


@command.command("show", short_help="Print the nuggets of a battle with their labels.")
@click.argument("battle_id", metavar="BATTLE")
@asking_gateway
@_JSON
def show_command(client: Client, battle_id: str, as_json: bool) -> None:
    """Print the nuggets of a battle with their labels, and who edited the list.

    The number of a nugget, and the version of the list, are what `edit` needs.
    """
    battle = client.battle(battle_id)
    if as_json:
        fields = {"nugget_version", "label_model", "nuggets", "nugget_edits", "nugget_history", "nugget_bank"}
        click.echo(battle.model_dump_json(include=fields))
        return
    if battle.nugget_version is None:
        raise click.ClickException(f"battle {battle_id!r} has no nugget list")
    by = "" if battle.label_model is None else f", labels by {battle.label_model}"
    click.echo(f"version {battle.nugget_version}{by}")
    for number, nugget in enumerate(battle.nuggets, start=1):
        labels = f"A {_label(nugget.a)}, B {_label(nugget.b)}"
        click.echo(f"{number:>3}  {nugget.importance.value:<5}  {nugget.text}  [{labels}]")
    for edit in battle.nugget_edits:
        click.echo(f"version {edit.version}, {edit.edited_at:%Y-%m-%d %H:%M} by {edit.author}: {edit.reason}")


@command.command("edit")
@click.argument("battle_id", metavar="BATTLE")
@click.option("--version", type=_NUMBER, required=True, help="Version that `show` printed.")
@click.option("--author", required=True, help="Who edits.")
@click.option("--reason", required=True, help="Why.")
@click.option(
    "--add", type=(_IMPORTANCE, str), multiple=True, metavar="vital|okay TEXT", help="Add a nugget."
)
@click.option(
    "--reword", type=(_NUMBER, str), multiple=True, metavar="N TEXT", help="Replace the text of nugget N."
)
@click.option(
    "--importance",
    type=(_NUMBER, _IMPORTANCE),
    multiple=True,
    metavar="N vital|okay",
    help="Make nugget N vital or okay.",
)
@click.option(
    "--merge",
    type=(_NUMBER, _NUMBER),
    multiple=True,
    metavar="N INTO",
    help="Merge nugget N into nugget INTO.",
)
@click.option("--delete", type=_NUMBER, multiple=True, metavar="N", help="Delete nugget N.")
@click.option(
    "--label",
    type=(_NUMBER, _SIDE, _LABEL),
    multiple=True,
    metavar="N a|b LABEL",
    help="Set the label of nugget N for an answer: support, partial_support, not_support or contradiction.",
)
@asking_gateway
@_JSON
def edit_command(
    client: Client, *, battle_id: str, version: int, author: str, reason: str, as_json: bool, **changes: Any
) -> None:
    """Edit the nugget list of a battle that has ended.

    Nuggets are named by the numbers that `show` prints. Each option can be given several times; all of them
    are one edit. Nuggets with a new text are labelled, and scores, preference and leaderboard follow. A label
    that you set replaces the model's, which is kept beside it, until the nugget gets a new text.
    Sending the same edit again changes nothing.
    """
    battle = client.battle(battle_id)
    if battle.nugget_version != version:
        newest = f"the list has version {battle.nugget_version}, not {version}"
        raise click.ClickException(f"{newest}; see `nuggetstream nuggets show`")
    edit = {"version": version, "author": author, "reason": reason}
    edited = client.edit_nuggets(battle_id, edit | {"operations": _operations(battle, changes)})
    _print_edit(edited, as_json=as_json)


@command.command("reassign", short_help="Label all nuggets of a battle again.")
@click.argument("battle_id", metavar="BATTLE")
@click.option("--model", help="Model to ask, at the endpoint of the assigner. Without it the assigner's own.")
@click.option("--author", required=True, help="Who asks for it.")
@click.option("--reason", required=True, help="Why.")
@asking_gateway
@_JSON
def reassign_command(
    client: Client, *, battle_id: str, model: str | None, author: str, reason: str, as_json: bool
) -> None:
    """Label all nuggets of a battle again, by another model if you name one.

    The list stays. It is an edit like others: the new labels replace the earlier ones once they are there,
    scores and leaderboard follow, and the battle says who asked for it, why, and which model labelled.
    """
    version = client.battle(battle_id).nugget_version
    if version is None:
        raise click.ClickException(f"battle {battle_id!r} has no nugget list")
    operations = [{"op": "reassign", "model": model}]
    edit = {"version": version, "author": author, "reason": reason, "operations": operations}
    edited = client.edit_nuggets(battle_id, edit)
    _print_edit(edited, as_json=as_json)


def _print_edit(edited: RecordedEdit, *, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(edited).decode())
        return
    for change in edited.changes:
        after = "" if change.after is None else f" -> {change.after} ({change.importance})"
        labels = "; ".join(change.before)
        if change.op is EditKind.REASSIGN:
            labels = f"by {change.model or 'the model of the assigner'}"
        if (label := change.label) is not None:
            after = f": {label.before.value} -> {label.after.value} for answer {label.answer.value.upper()}"
        click.echo(f"{change.op.value}: {labels}{after}")
    click.echo(f"version {edited.version} is being labelled")


def _operations(battle: BattleView, changes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Operations of the API; texts and importance first, because merges and deletions take nuggets away."""

    def name(number: int) -> str:
        if number > len(battle.nuggets):
            raise click.UsageError(f"there is no nugget {number}; the list has {len(battle.nuggets)}")
        nugget: NuggetView = battle.nuggets[number - 1]
        return nugget.id

    operations: list[dict[str, Any]] = [
        {"op": "label", "nugget": name(number), "answer": side, "to": label}
        for number, side, label in changes["label"]
    ]
    operations += [
        {"op": "reword", "nugget": name(number), "text": text} for number, text in changes["reword"]
    ]
    operations += [
        {"op": "importance", "nugget": name(number), "importance": value}
        for number, value in changes["importance"]
    ]
    merged: dict[str, list[str]] = {}
    for number, into in changes["merge"]:
        merged.setdefault(name(into), []).append(name(number))
    operations += [{"op": "merge", "nuggets": [into, *others]} for into, others in merged.items()]
    operations += [{"op": "delete", "nugget": name(number)} for number in changes["delete"]]
    operations += [{"op": "add", "text": text, "importance": value} for value, text in changes["add"]]
    if not operations:
        raise click.UsageError(
            "say what to change: --add, --reword, --importance, --label, --merge or --delete"
        )
    return operations


def _label(label: LabelView | None) -> str:
    if label is None:
        return "pending"
    person = "" if label.set_by is None else f" by {label.set_by.author}"
    return label.support.value.replace("_", " ") + person
