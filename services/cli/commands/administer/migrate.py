"""`nuggetstream migrate`: migrate the database to the schema of this version."""

import asyncio

import click

from services.cli.wiring.database_url import open_database
from services.cli.wiring.process import read_settings, run
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.cli.wiring.waiting import NO_WAIT_HELP, PATIENCE_S, Patience
from services.store.migrate import upgrade


@click.command("migrate")
@click.option("--no-wait", is_flag=True, help=NO_WAIT_HELP)
def command(no_wait: bool) -> None:
    """Create the tables, or apply the migrations that the database lacks.

    Running it again changes nothing. While the database is away it waits, for at most
    ten minutes.
    """
    platform, server = read_settings(PlatformSettings), read_settings(ServerSettings)

    async def migrate(stop: asyncio.Event) -> None:
        database = open_database(platform.database_url, connections=1)

        async def attempt() -> None:
            async with database.transaction():  # for a clear error instead of Alembic's long one
                pass
            await upgrade(database)

        try:
            await Patience(0.0 if no_wait else PATIENCE_S, stop).until_available(attempt)
            click.echo("the database is up to date")
        finally:
            await database.close()

    run(migrate, server)
