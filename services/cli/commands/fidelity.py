"""`nuggetstream fidelity`: the published numbers this code must reproduce, computed again."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nuggetstream.fidelity.collector import Finished, collect, missing_files
from nuggetstream.fidelity.row import Row

_ENVIRONMENT = "NUGGETSTREAM_DATA"
_WIDTH_OF_A_FILE = 140  # a table read from a log is not cut to the 80 columns of a terminal that is not there


@click.command("fidelity")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    envvar=_ENVIRONMENT,
    show_envvar=True,
    help="Folder of recorded data.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the rows here too."
)
def command(data: Path | None, json_file: Path | None) -> None:
    """Compute every published number again from recorded data, without any model.

    Exits 1 when a number is off, 2 when the data are not there.
    """
    finished = collect(_complete(data))
    _show(finished)
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


def _show(finished: Finished) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_OF_A_FILE)
    console.print(_table(finished.rows))
    failed = sum(not row.passed for row in finished.rows)
    verdict = f"{failed} of {len(finished.rows)} failed" if failed else f"all {len(finished.rows)} passed"
    console.print(f"{verdict}, {finished.seconds:.0f} s")


def _table(rows: Sequence[Row]) -> Table:
    table = Table(title="Published numbers, computed again", title_justify="left")
    table.add_column("id", no_wrap=True)
    table.add_column("what", overflow="fold")
    for name in ("published", "ours"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("tolerance", justify="right", no_wrap=True)
    table.add_column("")
    before = None
    for row in rows:
        cells = map(escape, (row.what, row.published, row.ours, row.tolerance))
        verdict = "[green]pass[/]" if row.passed else "[bold red]FAIL[/]"
        table.add_row("" if row.id == before else row.id, *cells, verdict)
        before = row.id
    return table
