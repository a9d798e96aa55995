"""`nuggetstream report RESULTS`: evaluated battles as one page to read and one file of numbers."""

from pathlib import Path

import click

from nuggetstream.files.dataset import UnusableFile
from services.cli.showing import needing_analysis, refusing


@click.command("report")
@click.argument("results", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder for report.html and report.json; created when missing.",
)
@needing_analysis
def command(results: Path, out: Path) -> None:
    """Turn RESULTS (the results.jsonl of `nuggetstream eval`) into a report.

    Writes OUT/report.html, one page that works offline, and OUT/report.json with every number behind it.
    When RESULTS cannot be used, the error names file, line and field, and the exit code is 2.
    """
    from nuggetstream.report.build import write_report

    with refusing(UnusableFile):
        written = write_report(results, out)
    click.echo(f"scored {written.scored} of {written.received} battles received")
    click.echo(f"page:    {written.page}   (open it in a browser)")
    click.echo(f"numbers: {written.numbers}")
