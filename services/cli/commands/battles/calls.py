"""`nuggetstream calls`: the model calls of a battle, over the API."""

from datetime import UTC

import click

from nuggetstream.client import Client
from nuggetstream.views.calls import CallView
from services.cli.commands.administrator import asking_gateway

_INDENT = "    "


@click.command("calls")
@click.argument("battle_id", metavar="BATTLE")
@click.option("--full", is_flag=True, help="Print prompts and replies, too.")
@click.option("--stage", help="Only calls of this stage, such as judge or grader-aspects.")
@asking_gateway
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line, with prompts.")
def command(client: Client, battle_id: str, full: bool, stage: str | None, as_json: bool) -> None:
    """List the model calls of a battle, by its ID, in the order in which they began.

    Each line has the stage, the task, what became of the call, the model, tokens, cost and time. Retries and
    replies from the cache have lines of their own. Calls are kept for NUGGETSTREAM_CALL_LOG_DAYS.

    It asks a running gateway, as `nuggetstream failures` does.
    """
    calls = [call for call in client.model_calls(battle_id) if stage in (None, call.stage)]
    for call in calls:
        click.echo(call.model_dump_json() if as_json else line_of(call))
        if full and not as_json:
            for message in call.prompt or ():
                _echo_text(message.role, message.content)
            _echo_text("reply", call.reply)
    if not calls:
        click.echo("no call is logged: none was made yet, or they are older than the log", err=True)


def line_of(call: CallView) -> str:
    """One call as one line."""
    parts = [f"{call.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", call.stage]
    parts += [call.evaluator] if call.evaluator else []
    asked = call.model if call.endpoint is None else f"{call.model} at {call.endpoint}"
    parts += [call.task, call.outcome, asked]
    parts += [f"attempt {call.attempt}"] if call.attempt > 1 else []
    parts += ["second request"] if call.repair else []
    if call.input_tokens is not None:
        cached = f" ({call.cached_input_tokens} cached)" if call.cached_input_tokens else ""
        parts.append(f"{call.input_tokens}{cached}+{call.output_tokens} tokens")
    parts += [f"{call.cost.amount:.6f} {call.cost.currency}"] if call.cost else []
    parts += [f"{call.seconds:.2f} s"] if call.seconds is not None else []
    return "  ".join(parts) + (f": {call.detail}" if call.detail else "")


def _echo_text(title: str, text: str | None) -> None:
    click.echo(f"{_INDENT}{title}:" if text is not None else f"{_INDENT}{title}: not stored")
    for line in (text or "").splitlines():
        click.echo(f"{_INDENT}{_INDENT}{line}")
