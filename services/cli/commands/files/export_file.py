"""`nuggetstream export`: evaluated battles in the formats of other projects."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nuggetstream.client import Client, NotFound
from nuggetstream.client.options import BattleOptions
from nuggetstream.files.formats.exporting import View, write_export
from nuggetstream.files.formats.exports import EXPORTS, export_named
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import result_views
from services.cli.commands.showing import refusing

if TYPE_CHECKING:
    from services.store.database import Database

_PAGE = 200  # battles of a page of the API's list, the most that it gives


def _list_formats(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    for export in EXPORTS:
        click.echo(f"{export.name}: {export.title}\n    written: {export.kept}\n    lost: {export.lost}")
    ctx.exit()


_FORMAT = click.Choice([known.name for known in EXPORTS])


@click.command("export")
@click.argument("results", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--to", "name", type=_FORMAT, metavar="FORMAT", required=True, help="As --formats names it.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write.")
@click.option("--url", help="Export the battles of the platform at this URL.")
@click.option(
    "--database",
    is_flag=True,
    help="Export the battles of the database NUGGETSTREAM_DATABASE_URL; that of `nuggetstream up` is "
    "sqlite+aiosqlite:///nuggetstream-data/nuggetstream.db.",
)
@click.option("--arena", help="Only battles of this arena; with --url or --database.")
@click.option("--since", type=click.DateTime(),
              help="Only battles received from this time on (UTC); with --url or --database.")  # fmt: skip
@click.option("--lens", help="Whose votes: human (the default), nugget, judge or all; with --to votes.")
@click.option("--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list_formats,
              help="List the formats, with what is written and what is lost.")  # fmt: skip
def command(
    results: Path | None,
    name: str,
    out: Path,
    *,
    url: str | None,
    database: bool,
    arena: str | None,
    since: datetime | None,
    lens: str | None,
) -> None:
    """Write evaluated battles to OUT in the format of another project.

    They come from RESULTS, a results.jsonl of `nuggetstream eval`, from a running platform (--url) or from
    its database (--database), newest first there. Memory holds one battle. OUT is Parquet where its name
    ends with .parquet, which the formats of arenas can be, and gzipped where it ends with .gz.
    """
    if sum((results is not None, url is not None, database)) != 1:
        raise click.UsageError("Name one of RESULTS, --url and --database.")
    if results is not None and (arena is not None or since is not None):
        raise click.UsageError("--arena or --since selects battles; it needs --url or --database.")
    with refusing(UnusableFile), ExitStack() as stack:
        export = export_named(name, lens)
        views: Iterable[View]
        if results is not None:
            views = result_views(results)
        elif url is not None:
            views = _of_platform(stack.enter_context(_client(url)), arena)
        else:
            runner = stack.enter_context(asyncio.Runner())
            views = battles_of(runner, stack.enter_context(opened_database(runner)), arena)
        if since is not None:  # they come newest first
            views = takewhile(partial(is_since, since.replace(tzinfo=UTC)), views)
        done = write_export(export, views, out)
    nothing = f"; {many(done.empty, 'battle')} had nothing to write" if done.empty else ""
    click.echo(f"{out}: {many(done.rows, 'row')} of {many(done.battles, 'battle')}{nothing}", err=True)


def is_since(since: datetime, view: View) -> bool:
    """Whether a battle was received at a time or later."""
    return datetime.fromisoformat(view["received_at"]) >= since


def _client(url: str) -> Any:
    from services.cli.commands.administrator import connected

    return connected(url)


def _of_platform(client: Client, arena: str | None) -> Iterator[View]:
    options: BattleOptions = {}
    while page := client.battles(arena, _PAGE, **options):
        for summary in page:
            with suppress(NotFound):  # deleted meanwhile
                yield client.battle(summary.id).model_dump(mode="json")
        last = page[-1]
        options = {"before": f"{last.received_at.astimezone(UTC).isoformat()},{last.id}"}


@contextmanager
def opened_database(runner: asyncio.Runner) -> Iterator["Database"]:
    """The database that NUGGETSTREAM_DATABASE_URL names.

    Raises:
        click.ClickException: It cannot be used, or does not answer.
    """
    from services.cli.wiring.prepared import prepared_database
    from services.cli.wiring.process import read_settings
    from services.cli.wiring.settings import PlatformSettings
    from services.runtime.errors import StageError
    from services.runtime.masking import KNOWN

    stack = AsyncExitStack()
    prepared = prepared_database(read_settings(PlatformSettings).database_url)
    try:
        database = runner.run(stack.enter_async_context(prepared))
        try:
            yield database
        finally:
            runner.run(stack.aclose())
    except StageError as error:
        raise click.ClickException(KNOWN.redact(error.for_operators)) from error


def battles_of(
    runner: asyncio.Runner, database: "Database", arena: str | None, before: datetime | None = None
) -> Iterator[View]:
    """The battles of a database, newest first.

    Args:
        runner: Runs the queries.
        database: The database.
        arena: Only battles of this arena; all when None.
        before: Only battles received before this time; all when None.
    """
    from services.gateway.battles.assembly import assemble
    from services.store.battles.battle_search import BattleFilter, BattleSearch, Position
    from services.store.battles.battles import Battles

    search, battles = BattleSearch(database), Battles(database)
    position = None if before is None else Position(before, "")
    while True:
        page = runner.run(search.page(BattleFilter(arena=arena), _PAGE, position))
        for row in page.rows:
            battle = runner.run(battles.whole(row.id))
            if battle is not None:  # deleted meanwhile
                yield assemble(battle.row, battle.body, battle.events).model_dump(mode="json")
        if (position := page.next) is None:
            return
