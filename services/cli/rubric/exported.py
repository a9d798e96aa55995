"""`nuggetstream rubric export`: grades of evaluated battles as files of the autograding workbench."""

from pathlib import Path

import click

from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import NEW_FOLDER, plain_option, refusing, show_written
from services.cli.rubric.options import FILE


@click.command("export", short_help="Write graded answers and their questions as workbench files.")
@click.argument("results", type=FILE)
@click.option("--out", type=NEW_FOLDER, required=True, help="Folder for the files.")
@plain_option
def export_command(results: Path, out: Path, *, plain: bool) -> None:
    """Write what the evaluator `rubric` graded, for the other commands and for the autograding workbench.

    RESULTS is a file of evaluated battles, as `nuggetstream eval` writes it. The files are graded.jsonl.gz,
    and questions.jsonl.gz or nuggets.jsonl.gz with the banks. The first answer of a system to a query has
    rank 1; further ones have no rank.
    """
    from nuggetstream.files.results import read_results
    from nuggetstream.rubric.exporting import NothingToExport, export

    with refusing(UnusableFile, NothingToExport):
        exported = export(read_results(results), out)
    show_written(exported.files, plain=plain)
    if exported.unranked:
        answers = many(exported.unranked, "further answer")
        click.echo(f"note: {answers} of a system to the same query: exported without a rank", err=plain)
