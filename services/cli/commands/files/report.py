"""`nuggetstream report RESULTS`: evaluated battles as one page to read and one file of numbers."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import NEW_FOLDER, needing_extras, refusing


def site(url: str | None) -> str | None:
    """The URL of pages without a slash at its end.

    Raises:
        click.BadParameter: it is no URL of a web site.

    >>> site("http://127.0.0.1:8080/")
    'http://127.0.0.1:8080'
    """
    if url is not None and not url.startswith(("http://", "https://")):
        raise click.BadParameter(f"{url!r} should begin with http:// or https://")
    return None if url is None else url.rstrip("/")


@click.command("report")
@click.argument("results", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=NEW_FOLDER,
    required=True,
    help="Folder for report.html and report.json; created when missing.",
)
@click.option(
    "--pages",
    metavar="URL",
    callback=lambda _context, _option, url: site(url),
    help="Pages of a platform that has the battles, such as http://127.0.0.1:8080; the report links to them.",
)
@needing_extras
def command(results: Path, out: Path, pages: str | None) -> None:
    """Turn RESULTS (the results.jsonl of `nuggetstream eval`) into a report.

    Writes OUT/report.html, one page that works offline, and OUT/report.json with every number behind it.
    When RESULTS cannot be used, the error names file, line and field, and the exit code is 2.
    """
    from nuggetstream.report.build import write_report
    from services.cli.tournament.page import chapters_of

    console = Console(stderr=True)
    with refusing(UnusableFile), _bar(console) as bar:
        task = bar.add_task("reading the results", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, description=f"computing {name}", completed=done, total=total)

        written = write_report(results, out, chapters_of(results), pages=pages, progress=show)
    click.echo(f"scored {written.scored} of {written.received} battles received")
    click.echo(f"page:    {written.page}   (open it in a browser)")
    click.echo(f"numbers: {written.numbers}")


def _bar(console: Console) -> Progress:
    """A progress bar on a terminal, which is removed at the end; nothing elsewhere."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
