"""`nuggetstream import FILE`: files of other projects as battles of ours, into a file or a platform."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any

import click

from nuggetstream.client.calls import LOCAL
from nuggetstream.files.dataset import BadLine, BattleLine, read_documents
from nuggetstream.files.formats.format import BATTLES, Line, Remark, RowLine
from nuggetstream.files.formats.one_sided import balanced
from nuggetstream.files.formats.registry import FORMATS, read_lines, recognised
from nuggetstream.files.formats.runs import NUGGETIZER_ASSIGNMENTS
from nuggetstream.files.formats.same_battles import with_repeated
from nuggetstream.files.formats.votes import VOTES
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import REJECTED
from services.cli.commands.reading_options import MISSING_OPTION, OUTCOME_OPTION, outcomes_of
from services.cli.commands.showing import NEW_FOLDER, BadInput, refusing

_FILES = {BATTLES: "battles.jsonl", VOTES: "votes.jsonl"}
_OTHER = "rows.jsonl"
_RESULTS = "results.jsonl"
_WRITTEN = (*_FILES.values(), _OTHER, _RESULTS, REJECTED)
_PART = ".part"


def _list_formats(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    for file_format in FORMATS:
        click.echo(f"{file_format.name}: {file_format.title}; holds {file_format.holds}")
        click.echo(f"    read: {file_format.fields}")
        if file_format.lost:
            click.echo(f"    lost: {file_format.lost}")
    ctx.exit()


_FORMAT = click.Choice([known.name for known in FORMATS])


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=NEW_FOLDER, help="Folder for what was read.")
@click.option(
    "--to",
    "target",
    type=click.Choice([BATTLES, "results"]),
    default=BATTLES,
    show_default=True,
    help="results: with the nuggets and labels of nuggetizer's assignments, as `eval` writes them.",
)
@click.option("--url", help=f"Submit the battles to the platform at this URL, such as {LOCAL}.")
@click.option("--format", "name", type=_FORMAT, metavar="FORMAT", help="As --formats names it, not detected.")
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSONL file of {docid, text}, for files whose answers cite documents by id.",
)
@MISSING_OPTION
@OUTCOME_OPTION
@click.option("--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list_formats,
              help="List the formats, with what is read and what is lost.")  # fmt: skip
def command(
    file: Path,
    *,
    out: Path | None,
    target: str,
    url: str | None,
    name: str | None,
    documents: Path | None,
    missing: tuple[str, ...],
    outcomes: tuple[str, ...],
) -> None:
    """Read FILE, a file or folder of another project, and write or submit its battles.

    Writes OUT/battles.jsonl, one battle per line as `POST /v1/battles` takes it, and the rows that cannot
    be used, with line and field, to OUT/rejected.jsonl. A file of votes becomes OUT/votes.jsonl, which
    `nuggetstream rate` reads; labels, rankings, nuggets and documents become OUT/rows.jsonl. Assignments of
    nuggetizer become OUT/results.jsonl with --to results, which `report` and `export` read. Files of an
    earlier import are replaced when all is read. The content tells the format.
    """
    is_results = target != BATTLES
    if is_results and (out is None or documents):
        raise click.UsageError("--to results needs --out, and takes no documents.")
    if (out is None) == (url is None):
        raise click.UsageError("Name either --out or --url.")
    with refusing(UnusableFile):
        known = None if _is_pipe(file) else recognised(file, name, battles=url is not None)
        file_format, source = known or (None, None)
        _keep_inputs([file, *(source.files if source else ()), *([documents] if documents else ())], out)
        reading = partial(read_lines, outcomes=outcomes_of(outcomes), missing=missing)
        texts = read_documents(documents) if documents else {}
        rows = _results(file) if is_results else reading(file, texts, name, battles=url is not None)
        lines = with_repeated(balanced(file, rows))
        done, bad = _write(lines, out) if out is not None else _submit(lines, str(url))
    title = file_format.title if file_format else "a pipe"
    click.echo(f"{file}: {title}; {many(done, 'row')} imported, {bad} rejected", err=True)
    if not done:
        raise BadInput(f"{file}: nothing could be imported")


def _is_pipe(file: Path) -> bool:
    return file.exists() and not file.is_file() and not file.is_dir()


def _results(file: Path) -> Iterator[Line | dict[str, Any]]:
    from nuggetstream.api.assignments import results_of

    file_format, source = recognised(file)
    if file_format is not NUGGETIZER_ASSIGNMENTS:
        raise UnusableFile(
            f"{file}: is {file_format.title}; --to results needs {NUGGETIZER_ASSIGNMENTS.title}"
        )
    yield from results_of(source)


def _keep_inputs(inputs: Iterable[Path], out: Path | None) -> None:
    """Check that the import replaces no file that it reads; without a folder it replaces none.

    Raises:
        UnusableFile: Names the first file that it would replace.
    """
    if out is None:
        return
    replaced = [path for name in _WRITTEN for path in (out / name, out / f"{name}{_PART}") if path.exists()]
    for file in inputs:
        if any(file.exists() and path.samefile(file) for path in replaced):
            raise UnusableFile(f"{file}: the import would replace this file; name another folder with --out")


def _write(lines: Iterable[Line | dict[str, Any]], out: Path) -> tuple[int, int]:
    """Write what was read. When all is read, the files get their names, and those of an earlier import go.

    Returns:
        Number of rows written, and of rows rejected.
    """
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, IO[str]] = {}
    counts = dict.fromkeys((True, False), 0)
    try:
        for line in lines:
            if isinstance(line, Remark):
                click.echo(f"note: {line.text}", err=True)
                continue
            name, value = _written(line)
            if name not in files:
                files[name] = (out / f"{name}{_PART}").open("w", encoding="utf-8")
            files[name].write(json.dumps(value, ensure_ascii=False) + "\n")
            counts[name != REJECTED] += 1
        for opened in files.values():
            opened.close()
        for name in _WRITTEN:
            if name in files:
                (out / f"{name}{_PART}").replace(out / name)
            else:
                (out / name).unlink(missing_ok=True)
    finally:
        for name, opened in files.items():
            opened.close()
            (out / f"{name}{_PART}").unlink(missing_ok=True)
    for name in files:
        click.echo(str(out / name))
    return counts[True], counts[False]


def _written(line: BattleLine | RowLine | BadLine | dict[str, Any]) -> tuple[str, Any]:
    match line:
        case dict():
            return _RESULTS, line
        case BadLine():
            return REJECTED, asdict(line)
        case BattleLine(submission=submission):
            return _FILES[BATTLES], submission.model_dump(mode="json", exclude_none=True)
        case RowLine(fields=fields):
            return (_FILES[VOTES] if "winner" in fields else _OTHER), dict(fields)


def _submit(lines: Iterable[Line | dict[str, Any]], url: str) -> tuple[int, int]:
    """Submit battles, and name the rows that are rejected on standard error.

    Returns:
        Number of battles accepted, and of rows rejected.
    """
    from services.cli.commands.administrator import connected

    rejected: list[int] = []
    numbers: dict[int, int] = {}  # line of each battle in flight, by its number in the submission
    sent = count(1)

    def submissions() -> Iterator[dict[str, Any]]:
        for line in lines:
            if isinstance(line, Remark):
                click.echo(f"note: {line.text}", err=True)
            elif isinstance(line, BadLine):
                rejected.append(line.line)
                click.echo(f"line {line.line}: {'; '.join(line.problems)}", err=True)
            elif isinstance(line, BattleLine):
                numbers[next(sent)] = line.line
                yield line.submission.model_dump(mode="json", exclude_none=True)

    accepted = 0
    with connected(url) as client:
        for result in client.submit_many(submissions()):
            line_number = numbers.pop(result.line)
            if result.error is None:
                accepted += 1
                continue
            rejected.append(line_number)
            click.echo(f"line {line_number}: {'; '.join(result.problems or [result.error])}", err=True)
    return accepted, len(rejected)
