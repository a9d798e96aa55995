"""`nuggetstream archive`: list or verify an archive of pages."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

_FOLDER = click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))


@click.group("archive")
def command() -> None:
    """List or verify an archive of pages.

    NUGGETSTREAM_SCRAPER_ARCHIVE_DIR makes one; `eval --replay` reads it.
    """


@command.command("list", short_help="List every response and visit in FOLDER.")
@_FOLDER
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_command(folder: Path, *, as_json: bool) -> None:
    """Print every response and every visit in FOLDER: time, status or quality class, bytes, URL."""
    from services.scraper.archive_check import files_of, records

    with _clear_errors():
        files = files_of(folder)
    for path in files:
        with _clear_errors(f"{path.name}: "):
            for record in records(path):
                if as_json:
                    click.echo(json.dumps(asdict(record) | {"path": record.path.name}))
                    continue
                size = "" if record.size is None else str(record.size)
                click.echo(f"{record.date}  {record.kind:<8}  {record.result:<18} {size:>9}  {record.url}")


@command.command("verify", short_help="Compare every record with its digests.")
@_FOLDER
def verify_command(folder: Path) -> None:
    """Compare every record in FOLDER with its digests, and the indexes with the records.

    Every visit also needs a response that it can be replayed from, of the version that the visit found.

    The exit status is 1 if anything is wrong.
    """
    from services.scraper.archive_check import files_of, problems

    with _clear_errors():
        files, faults = files_of(folder), list(problems(folder))
    for path, problem in faults:
        click.echo(f"{path.name}: {problem}")
    click.echo(f"{len(files)} files, {len(faults)} problems")
    if faults:
        raise SystemExit(1)


@contextmanager
def _clear_errors(where: str = "") -> Iterator[None]:
    """Say in one line what makes an archive unusable, after where it is."""
    from services.scraper.archive_reader import UnusableArchive

    try:
        yield
    except UnusableArchive as error:
        raise click.ClickException(f"{where}{error}") from error
