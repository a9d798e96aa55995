"""`nuggetstream migrate`: bring the database to the schema this version expects."""

import asyncio

import click

from services.cli.process import read_settings, run
from services.cli.settings import PlatformSettings, ServerSettings
from services.store.database import Database
from services.store.migrate import downgrade, upgrade


@click.command("migrate")
@click.option("--down", metavar="REVISION", help='Reverse migrations down to REVISION ("base": all of them).')
def command(down: str | None) -> None:
    """Apply every migration that is missing. Running it again changes nothing."""
    platform = read_settings(PlatformSettings)

    async def migrate(_: asyncio.Event) -> None:
        database = Database(platform.database_url)
        try:
            async with database.transaction():  # a clear error before Alembic's long one
                pass
            await (downgrade(database, down) if down else upgrade(database))
            click.echo("the database is " + (f"back at {down}" if down else "up to date"))
        finally:
            await database.close()

    run(migrate, read_settings(ServerSettings))
