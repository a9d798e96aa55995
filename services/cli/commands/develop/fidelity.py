"""`nuggetstream fidelity`: reference numbers that this code must reproduce, computed again."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from nuggetstream.fidelity.collector import Finished, collect, missing_files
from nuggetstream.fidelity.row import Basis, Row
from nuggetstream.files.cells import named, table
from services.cli.commands.showing import plain_option, show

_ENVIRONMENT = "NUGGETSTREAM_DATA"


@click.command("fidelity")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    envvar=_ENVIRONMENT,
    show_envvar=True,
    help="Folder of recorded data.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write the rows here."
)
@plain_option
def command(data: Path | None, json_file: Path | None, *, plain: bool) -> None:
    """Compute the numbers of five papers again from recorded data, without any model.

    The column "basis" tells where the reference of a row comes from and what a pass means.

    Exits 1 when a number is outside its tolerance, 2 when data are missing.
    """
    finished = collect(_complete(data))
    _show(finished, plain=plain)
    if json_file:
        content = {"seconds": round(finished.seconds, 1), "rows": [asdict(row) for row in finished.rows]}
        json_file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if not all(row.passed for row in finished.rows):
        raise SystemExit(1)


def _complete(data: Path | None) -> Path:
    if data is None:
        raise click.UsageError(f"where are the recorded data? Set {_ENVIRONMENT} or give --data FOLDER.")
    if not data.is_dir():
        raise click.UsageError(f"{data}: no such folder of recorded data.")
    if missing := missing_files(data):
        raise click.UsageError(f"{data} lacks {len(missing)} files: {', '.join(missing)}")
    return data


def _show(finished: Finished, *, plain: bool) -> None:
    failed = sum(not row.passed for row in finished.rows)
    verdict = f"{failed} of {len(finished.rows)} failed" if failed else f"all {len(finished.rows)} passed"
    legend = (Text(f"{basis.value}: {basis.meaning}") for basis in Basis)
    summary = Text(f"{verdict}, {finished.seconds:.0f} s")
    show(Group(_table(finished.rows), *legend, summary), plain=plain)


def _table(rows: Sequence[Row]) -> Table:
    columns = ("id", "basis", "result", "what", "reference", "ours", "tolerance")
    grid = table("Reference numbers, computed again", *columns, text=columns)
    for row in rows:
        result = "[green]pass[/]" if row.passed else "[bold red]FAIL[/]"
        cells = map(named, (row.what, row.reference, row.ours, row.tolerance))
        grid.add_row(row.id, row.basis and row.basis.value, result, *cells)
    return grid
