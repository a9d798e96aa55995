"""`nuggetstream eval FILE`: evaluate a file of battles and write explained results and ratings."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from nuggetstream.files.dataset import BadLine, read_documents
from nuggetstream.files.formats.registry import read_battles
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import REJECTED
from nuggetstream.report.reasons import can_be_retried
from services.cli.commands.showing import NEW_FOLDER, refusing
from services.cli.evaluation.batching import batches_of
from services.cli.evaluation.dry_run import SAMPLE, estimate
from services.cli.evaluation.files import STATE, Contents, Continuing, evaluate, name_rejected, sharing
from services.cli.evaluation.folder import Evaluated
from services.cli.evaluation.kept_lines import Keeper, KeptLine
from services.cli.evaluation.meter import Meter
from services.cli.evaluation.repeated import repetitions, with_voters
from services.cli.evaluation.results import print_summary
from services.cli.wiring.embedded import Choices
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.process import STOPPED, read_settings, run, server_settings
from services.cli.wiring.settings import PipelineSettings, embedded_pipeline, ranking_of
from services.runtime.llm.settings import LLMSettings

_OUT = click.option(
    "--out",
    type=NEW_FOLDER,
    help="Folder for the results, and for the state from which the same command continues.  [required]",
)
_DOCUMENTS = click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSONL file of {docid, text}, for files whose answers cite documents by id.",
)
_REPLAY = click.option(
    "--replay",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Archive of an earlier run (NUGGETSTREAM_SCRAPER_ARCHIVE_DIR) that answers instead of the web.",
)
_DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Print the model calls, tokens and cost to expect, from a sample whose pages are fetched; call no "
    "model's endpoint, pay nothing and write nothing.",
)


@click.command("eval")
@click.argument("file", type=click.Path(path_type=Path))
@_OUT
@_DOCUMENTS
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Read and evaluate only the first LIMIT battles. Results and boards are of all battles of OUT.",
)
@click.option("--retry-failed", is_flag=True, help="Evaluate battles that failed in an earlier run again.")
@click.option(
    "--redo-changed",
    is_flag=True,
    help="Evaluate battles again whose lines have changed since an earlier run; by default its results stay.",
)
@click.option(
    "--mix",
    is_flag=True,
    help="Continue OUT with another model, profile or other settings than its battles were evaluated with.",
)
@_REPLAY
@click.option("--batch", is_flag=True, help="Ask in batches of the endpoint: half the price, within days.")
@_DRY_RUN
def command(
    file: Path,
    out: Path | None,
    *,
    documents: Path | None,
    limit: int | None,
    retry_failed: bool,
    redo_changed: bool,
    mix: bool,
    replay: Path | None,
    batch: bool,
    dry_run: bool,
) -> None:
    """Evaluate all battles of FILE on this machine.

    FILE is JSONL, or in a format of `nuggetstream import --formats`, gzipped or not; also a folder.

    Writes OUT/results.jsonl (one battle per line, with nuggets, labels, verdict and explanation),
    OUT/summary.json, OUT/summary.txt and, if lines were rejected, OUT/rejected.jsonl. Ctrl-C stops
    it and writes what there is; the same command continues where it stopped.

    Results and boards are of all battles of OUT. Votes that OUT has not are added; lines with the same
    battle are one battle with several votes, of which the majority counts.

    Battles with the same query and the same evidence share one nugget list, and equal answers its
    labels; NUGGETSTREAM_NUGGET_BANK_HOURS=0 gives every battle a list of its own.

    With --replay, no page is fetched: each is what its last visit in that archive found.

    With --batch, the process waits for batches, two or more per battle, one after the other. After
    Ctrl-C, a crash or a reboot the same command continues with the batches that it uploaded.
    """
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out'.")
    how = Continuing(retry_failed=retry_failed, redo_changed=redo_changed, mix=mix)
    _begin(file, None if dry_run else out, documents, limit, how, replay=replay, batch=batch)


def _begin(
    file: Path,
    out: Path | None,
    documents: Path | None,
    limit: int | None,
    how: Continuing,
    *,
    replay: Path | None,
    batch: bool,
) -> None:
    """Read the file and evaluate it; without a folder for the results, estimate what that costs."""
    server = server_settings(log_level="error")
    contents = _read(file, documents, limit, Keeper(None if out is None else out / STATE))
    pipeline = sharing(embedded_pipeline(read_settings(PipelineSettings)))
    llm = read_settings(LLMSettings)
    console = Console(stderr=True)
    _introduce(console, contents, pipeline, llm)
    fetch, grace = read_settings(FetchSettings), server.grace
    folder = out / STATE if out else Path()
    choices = Choices(folder=folder, pipeline=pipeline, fetch=fetch, llm=llm, grace=grace, replayed=replay)
    if out is None:
        run(partial(_estimate, contents.lines, choices, console, batched=batch), server)
        return
    choices = choices.in_batches(batches_of(llm, out / STATE, console)) if batch else choices
    work = partial(_evaluate, contents, choices, console, out=out, how=how)
    run(partial(_until_stopped, work, console), server)


async def _until_stopped(
    evaluate: Callable[[asyncio.Event], Awaitable[bool]], console: Console, stop: asyncio.Event
) -> int:
    if await evaluate(stop):
        return 0
    console.print(
        "stopped; the results have what there is; run the same command again to continue from here",
        soft_wrap=True,
    )
    return STOPPED


async def _evaluate(
    contents: Contents,
    choices: Choices,
    console: Console,
    stop: asyncio.Event,
    *,
    out: Path,
    how: Continuing,
) -> bool:
    """Evaluate, write the results and print them; False when it was stopped before the end."""
    evaluated = await evaluate(contents, choices, console, stop, out=out, how=how)
    if evaluated is None:
        return False
    print_summary(Console(), evaluated.summary, evaluated.boards)
    _print_notes(console, out, contents.file, evaluated)
    return True


async def _estimate(
    lines: Sequence[KeptLine], choices: Choices, console: Console, stop: asyncio.Event, *, batched: bool
) -> int | None:
    with Meter(console, min(SAMPLE, len(lines))) as meter:
        estimated = await estimate(lines, choices, meter.show, stop, batched=batched)
    if estimated is None and stop.is_set():
        return STOPPED
    if estimated is None:
        raise click.ClickException("no battle was evaluated, so there is no estimate")
    for line in estimated.lines():
        click.echo(line)
    return None


def _introduce(console: Console, contents: Contents, pipeline: PipelineSettings, llm: LLMSettings) -> None:
    model = "the offline model" if llm.offline else llm.model_name
    counts = many(len({line.id for line in contents.lines}), "battle")
    if contents.rejected:
        counts += f", {many(len(contents.rejected), 'line')} rejected"
    console.print(f"{counts}; model: {model}; ranking: {ranking_of(pipeline)}")
    if reasoning := sum(line.reasoning for line in contents.lines):
        console.print(f"{many(reasoning, 'answer')} with reasoning, which is left out and not evaluated")
    if (repeated := repetitions(contents.lines)) is not None:
        console.print(repeated, soft_wrap=True)


def _read(file: Path, documents: Path | None, limit: int | None, keeper: Keeper) -> Contents:
    lines: list[KeptLine] = []
    rejected: list[BadLine] = []
    with refusing(UnusableFile):
        texts = read_documents(documents) if documents else {}
        for line in read_battles(file, texts):
            if isinstance(line, BadLine):
                rejected.append(line)
            else:
                lines.append(keeper.keep(line))
            if len(lines) == limit:
                break
    name_rejected(file, rejected)
    if not lines:
        raise click.ClickException(f"{file}: contains no battle")
    return Contents(file, with_voters(lines, keeper), rejected)


def _print_notes(console: Console, out: Path, file: Path, evaluated: Evaluated) -> None:
    """Print what the tables do not show: what became of lines and votes, and the result files."""
    summary, run = evaluated.summary, evaluated.evaluation
    for note in _notes(out, file, evaluated):
        console.print(note, soft_wrap=True, markup=False)
    if summary.rejected:
        at_submission = len(run.rejected)
        console.print(
            f"{many(summary.rejected, 'line')} rejected; see {out / REJECTED}: "
            f"{summary.rejected - at_submission} without a battle, {at_submission} rejected when submitted "
            "(for example, because the id belongs to another battle)",
            soft_wrap=True,
        )
    if summary.failed > summary.rejected and can_be_retried(summary.reasons):
        console.print("to evaluate failed battles again, run the same command with --retry-failed")
    console.print(f"\nresults: {out / 'results.jsonl'}, {out / 'summary.json'}")


def _notes(out: Path, file: Path, evaluated: Evaluated) -> Iterator[str]:
    run = evaluated.evaluation
    if run.votes.added:
        yield f"{many(run.votes.added, 'vote')} added to battles that were evaluated before"
    if run.votes.changed:
        yield f"{many(run.votes.changed, 'vote')} replaced by the newer vote of {file}"
    if run.changed:
        first, more = run.changed[0], " and others" if len(run.changed) > 1 else ""
        yield (
            f"{many(len(run.changed), 'battle')} of {file} changed after {out} got results, which stay: "
            f"{first.id!r} on line {first.line}{more}; to evaluate them again, add --redo-changed"
        )
    others = evaluated.summary.received - evaluated.summary.rejected - len(run.accepted) - len(run.changed)
    if others > 0:
        yield f"the results have {many(others, 'battle')} more, of earlier runs in {out}"
    if evaluated.unfinished:
        yield (
            f"{many(evaluated.unfinished, 'battle')} did not end and are not in the results; "
            "run the command of that run again"
        )
