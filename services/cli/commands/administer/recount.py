"""`nuggetstream recount`: compare the counters of the database with its rows, and correct them."""

import asyncio

import click

from services.cli.wiring.prepared import prepared_database
from services.cli.wiring.process import read_settings, run
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.store.outcomes.recount import recount


@click.command("recount")
@click.option("--check", is_flag=True, help="Correct nothing; exit with code 1 if a counter is wrong.")
def command(check: bool) -> None:
    """Count battles, outcomes and booked calls again, and correct counters that are wrong.

    Boards and budgets are read from counters. Services may run meanwhile. Counters are wrong only after rows
    were changed by hand. The database is that of NUGGETSTREAM_DATABASE_URL;
    `nuggetstream up` has its own in its data folder: sqlite+aiosqlite:///nuggetstream-data/nuggetstream.db.
    """
    platform = read_settings(PlatformSettings)
    wrong: dict[str, int] = {}

    async def count(_: asyncio.Event) -> None:
        async with prepared_database(platform.database_url) as database:
            wrong.update(await recount(database, repair=not check))

    run(count, read_settings(ServerSettings), drains=False)
    verb = "wrong" if check else "corrected"
    for table, number in wrong.items():
        click.echo(f"{table:<17} {number:>9,} {verb}")
    if check and any(wrong.values()):
        raise SystemExit(1)
