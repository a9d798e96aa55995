"""`nuggetstream delete`: delete battles with everything that only they brought, over the API."""

import click

from nuggetstream.client import Client
from services.cli.commands.administrator import JSON, asking_gateway


@click.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@asking_gateway
@JSON
@click.confirmation_option(prompt="Delete these battles for good?")
def command(client: Client, ids: tuple[str, ...], as_json: bool) -> None:
    """Delete battles by their ID, with everything that only they brought.

    That is: their events, outcomes and failures, pages, chunks and model replies that no other battle uses,
    and their messages in streams. Boards are as if the battles had never been sent. What was paid stays in
    the accounts. A battle that is still running is not deleted.

    It asks a running gateway, as `nuggetstream failures` does. Deleting a battle twice changes nothing.
    """
    for battle_id in ids:
        done = client.delete_battle(battle_id)
        click.echo(done.model_dump_json() if as_json else f"{done.id}  {done.result}")
