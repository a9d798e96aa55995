"""`nuggetstream migrate`: migrate the database to the schema of this version."""

import asyncio

import click
from alembic.util import CommandError

from services.cli.database_url import open_database
from services.cli.process import read_settings, run
from services.cli.settings import PlatformSettings, ServerSettings
from services.cli.showing import BadInput
from services.cli.waiting import NO_WAIT_HELP, Patience
from services.store.database import Database
from services.store.migrate import downgrade, upgrade


@click.command("migrate")
@click.option("--down", metavar="REVISION", help='Reverse migrations down to REVISION ("base": all of them).')
@click.option("--no-wait", is_flag=True, help=NO_WAIT_HELP)
def command(down: str | None, no_wait: bool) -> None:
    """Apply all migrations that the database lacks.

    Running it again changes nothing. While the database is away it waits, for at most
    NUGGETSTREAM_START_PATIENCE_S seconds. It exits with code 2 when there is no such REVISION.
    """
    platform, server = read_settings(PlatformSettings), read_settings(ServerSettings)

    async def migrate(stop: asyncio.Event) -> None:
        database = open_database(platform.database_url, connections=1)

        async def attempt() -> None:
            async with database.transaction():  # for a clear error instead of Alembic's long one
                pass
            await (_downgrade(database, down) if down else upgrade(database))

        try:
            await Patience(0.0 if no_wait else server.start_patience_s, stop).until_available(attempt)
            click.echo("the database is " + (f"back at {down}" if down else "up to date"))
        finally:
            await database.close()

    run(migrate, server)


async def _downgrade(database: Database, revision: str) -> None:
    try:
        await downgrade(database, revision)
    except CommandError as error:
        raise BadInput(f"--down {revision}: {' '.join(str(error).split())}") from error
