"""`nuggetstream eval FILE`: evaluate a file of battles and write explained results and ratings."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from nuggetstream.files.dataset import BadLine, UnusableFile, read_battles, read_documents
from nuggetstream.files.numerals import many
from nuggetstream.files.results import REJECTED
from nuggetstream.report.summary import Summary
from services.cli.demo.folder import unmark
from services.cli.dry_run import SAMPLE, estimate
from services.cli.embedded import Choices, embedded
from services.cli.evaluation import Evaluation
from services.cli.kept_lines import Keeper, KeptLine
from services.cli.meter import Meter
from services.cli.process import read_settings, run
from services.cli.results import ResultsFile, print_summary
from services.cli.settings import FetchSettings, PipelineSettings, ServerSettings, embedded_pipeline
from services.cli.showing import refusing
from services.runtime.llm.settings import LLMSettings

_STATE = "state"
_STOPPED = 130  # exit code of a process that Ctrl-C ended


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a file contains."""

    file: Path
    lines: Sequence[KeptLine]
    rejected: Sequence[BadLine]


@click.command("eval")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the results, and for the state from which the same command continues.  [required]",
)
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSONL file of {docid, text}, for files whose answers cite documents by id.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Evaluate only the first LIMIT battles.")
@click.option("--retry-failed", is_flag=True, help="Evaluate battles that failed in an earlier run again.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the model calls, tokens and cost to expect, from a sample; pay nothing and write nothing.",
)
def command(
    file: Path,
    out: Path | None,
    *,
    documents: Path | None,
    limit: int | None,
    retry_failed: bool,
    dry_run: bool,
) -> None:
    """Evaluate all battles of FILE (JSONL, gzipped or not) on this machine.

    Writes OUT/results.jsonl (one battle per line, with nuggets, labels, verdict and explanation),
    OUT/summary.json, OUT/summary.txt and, if lines were rejected, OUT/rejected.jsonl. Ctrl-C stops
    it; the same command continues where it stopped.

    Battles with the same query and the same evidence share one nugget list, and equal answers its
    labels; NUGGETSTREAM_NUGGET_BANK_HOURS=0 gives every battle a list of its own.
    """
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out'.")
    server = read_settings(ServerSettings).model_copy(update={"log_level": "error"})
    contents = _read(file, documents, limit, Keeper(None if out is None or dry_run else out / _STATE))
    pipeline = _sharing(embedded_pipeline(read_settings(PipelineSettings)))
    llm = read_settings(LLMSettings)
    console = Console(stderr=True)
    _introduce(console, contents, pipeline, llm)
    choices = Choices(
        folder=out / _STATE if out else Path(), pipeline=pipeline, fetch=read_settings(FetchSettings), llm=llm
    )
    if out is None or dry_run:
        run(partial(_estimate, contents.lines, choices, console), server)
        return
    finished = asyncio.Event()
    evaluate = partial(_evaluate, contents, choices, console, out=out, retry_failed=retry_failed)
    run(lambda stop: evaluate(stop=stop, finished=finished), server)
    if not finished.is_set():
        console.print("stopped; run the same command again to continue from here")
        raise SystemExit(_STOPPED)


async def _evaluate(
    contents: _Contents,
    choices: Choices,
    console: Console,
    *,
    out: Path,
    retry_failed: bool,
    finished: asyncio.Event,
    stop: asyncio.Event,
) -> None:
    async with embedded(choices) as platform:
        unmark(out)
        with Meter(console, len(contents.lines)) as meter:
            evaluation = Evaluation(
                platform=platform,
                lines=contents.lines,
                report=meter.show,
                stop=stop,
                currency=choices.llm.price_table().currency,
                retry_failed=retry_failed,
            )
            if not await evaluation.run():
                return
        boards = await evaluation.boards()
        _name(contents.file, evaluation.rejected)
        references = {name: line.reference for name, line in evaluation.accepted.items()}
        with ResultsFile(out, references) as results:
            async for view in evaluation.views():
                results.add(view)
            summary = results.finish([*contents.rejected, *evaluation.rejected], boards)
        print_summary(Console(), summary, boards)
        _print_notes(console, out, summary, evaluation)
        finished.set()


async def _estimate(
    lines: Sequence[KeptLine], choices: Choices, console: Console, stop: asyncio.Event
) -> None:
    with Meter(console, min(SAMPLE, len(lines))) as meter:
        estimated = await estimate(lines, choices, meter.show, stop)
    if estimated is None:
        raise click.ClickException("no battle was evaluated, so there is no estimate")
    for line in estimated.lines():
        click.echo(line)


def _sharing(pipeline: PipelineSettings) -> PipelineSettings:
    """The settings with nugget lists that battles of the file share, unless the operator set it."""
    if pipeline.nugget_bank_hours is not None:
        return pipeline
    return pipeline.model_copy(update={"nugget_bank_hours": math.inf})


def _introduce(console: Console, contents: _Contents, pipeline: PipelineSettings, llm: LLMSettings) -> None:
    model = "the offline model" if llm.offline else llm.model_name
    ranking = pipeline.embedding_model if pipeline.has_embedder else "BM25 alone (light installation)"
    counts = f"{len(contents.lines)} battles, {len(contents.rejected)} lines rejected"
    console.print(f"{counts}; model: {model}; ranking: {ranking}")


def _read(file: Path, documents: Path | None, limit: int | None, keeper: Keeper) -> _Contents:
    lines: list[KeptLine] = []
    rejected: list[BadLine] = []
    with refusing(UnusableFile):
        texts = read_documents(documents) if documents else {}
        for line in read_battles(file, texts):
            if isinstance(line, BadLine):
                rejected.append(line)
            elif limit is None or len(lines) < limit:
                lines.append(keeper.keep(line))
    _name(file, rejected)
    if not lines:
        raise click.ClickException(f"{file}: contains no battle")
    return _Contents(file, lines, rejected)


def _name(file: Path, rejected: Sequence[BadLine]) -> None:
    for row in rejected:
        click.echo(f"{file}:{row.line}: {'; '.join(row.problems)}", err=True)


def _print_notes(console: Console, out: Path, summary: Summary, evaluation: Evaluation) -> None:
    """Print what the tables do not show: rejected lines, incomplete boards, and the result files."""
    if summary.rejected:
        at_submission = len(evaluation.rejected)  # the other lines contain no battle
        console.print(
            f"{many(summary.rejected, 'line')} rejected; see {out / REJECTED}: "
            f"{summary.rejected - at_submission} without a battle, {at_submission} rejected when submitted "
            "(for example, because the id belongs to another battle)",
            soft_wrap=True,
        )
    for arena in evaluation.unsettled:
        console.print(f"the boards of {arena} lack outcomes of battles that have ended")
    if summary.failed > summary.rejected:
        console.print("to evaluate failed battles again, run the same command with --retry-failed")
    console.print(f"\nresults: {out / 'results.jsonl'}, {out / 'summary.json'}")
