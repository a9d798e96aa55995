"""`nuggetstream delete`: delete battles with everything that only they brought, over the API."""

import click

from nuggetstream.client.calls import LOCAL
from services.cli.commands.administrator import connected


@click.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--url", default=LOCAL, show_default=True, help="Base URL of the gateway.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@click.confirmation_option(prompt="Delete these battles for good?")
def command(ids: tuple[str, ...], url: str, as_json: bool) -> None:
    """Delete battles by their ID, with everything that only they brought.

    That is: their events, outcomes and failures, pages, chunks and model replies that no other battle uses,
    and their messages in streams. Boards are as if the battles had never been sent. What was paid stays in
    the accounts. A battle that is still running is not deleted.

    It asks a running gateway, as `nuggetstream failures` does. Deleting a battle twice changes nothing.
    """
    with connected(url) as client:
        for battle_id in ids:
            done = client.delete_battle(battle_id)
            click.echo(done.model_dump_json() if as_json else f"{done.id}  {done.result}")
