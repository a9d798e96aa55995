"""What `nuggetstream rubric grade` does with passages: it grades them and writes files."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.offline import any_offline
from nuggetstream.files.numerals import many
from nuggetstream.rubric.exporting import bank_record
from services.cli.evaluation.asking import CountedSpend, open_model, progress_of
from services.cli.evaluation.batching import batches_of, waiting_for_batches
from services.cli.evaluation.meter import Meter, money
from services.cli.evaluation.run import Progress
from services.cli.rubric.asked_together import FILE, AskedTogether
from services.cli.rubric.estimate import print_estimate
from services.cli.rubric.grading import PassageRun
from services.cli.rubric.job import Job
from services.cli.rubric.passages import Passages
from services.cli.wiring.data_folder import locked_folder
from services.cli.wiring.prepared import migrated_database
from services.cli.wiring.process import STOPPED, read_settings, run, server_settings
from services.cli.wiring.tuning import BATCHED_BATTLES
from services.judge.grades.rubric import RubricOptions
from services.judge.options import GradeOptions
from services.runtime.llm.settings import LLMSettings

STATE = "state"
_OFFLINE = "note: graded by offline heuristics, not by a language model: set NUGGETSTREAM_LLM_API_KEY for one"


def run_grading(
    passages: Passages, out: Path | None, *, direct: bool, dry_run: bool, batch: bool, **asked: Any
) -> None:
    """Grade passages, or print what it would cost.

    Args:
        passages: The passages.
        out: Folder for the files; None only in a dry run.
        direct: Whether the evaluator `direct` is asked in place of `rubric`.
        dry_run: Whether the cost is estimated.
        batch: Whether calls wait for batches.
        asked: Options of `rubric`.

    Raises:
        click.ClickException: A setting cannot be used, or no passage could be graded.
        SystemExit: The run was stopped.
    """
    name = "direct" if direct else "rubric"
    llm = read_settings(LLMSettings).for_stage(name)
    job = Job(
        passages=passages,
        evaluator=name,
        options=GradeOptions() if direct else RubricOptions(passages=True, **asked),
        llm=llm.model_copy(update={"battle_tokens": None, "battle_money": None}),  # as of all evaluators
        batched=batch,
    )
    state = None if out is None else out / STATE
    if out is None or dry_run:
        work = partial(print_estimate, job, state if state is not None and state.exists() else None)
    else:
        work = partial(grade, job, out, Console(stderr=True))
    # What waits for a batch does not end soon. It is uploaded, and the next run continues with it.
    run(work, server_settings(log_level="error"), drains=not batch)


async def grade(job: Job, out: Path, console: Console, stop: asyncio.Event) -> int | None:
    """Grade the passages and write the files; returns the exit code, or None for 0.

    Raises:
        click.ClickException: No passage could be graded.
    """
    played = await play(job, out / STATE, console, stop)
    if played is None:
        return STOPPED
    grading, progress = played
    _print_summary(grading, _write(grading, out), progress)
    return None


async def play(
    job: Job, state: Path, console: Console, stop: asyncio.Event
) -> tuple[PassageRun, Progress] | None:
    """Grade passages with the replies that a folder keeps; None when it was stopped before the end."""
    llm, currency, total = job.llm, job.llm.price_table().currency, len(job.passages.pooled)
    batches = batches_of(llm, state, console) if job.batched else None
    async with locked_folder(state), migrated_database(state) as database, waiting_for_batches(batches, llm):
        spend = CountedSpend(database, currency)
        with Meter(console, total, unit="passages", result="grades") as meter:
            tell_once = cache(partial(console.print, "waiting for the model:", soft_wrap=True))

            def report(done: int, failed: int) -> None:
                meter.show(progress_of(spend.spent, done, failed, total, currency))

            async with open_model(llm, spend, database, batches) as model:
                grading = PassageRun(
                    passages=job.passages,
                    panel=job.panel(model),
                    stop=stop,
                    tell=tell_once,
                    report=report,
                    window=64 if batches is None else BATCHED_BATTLES,
                    keeper=model,
                    asked=AskedTogether.read(state / FILE),
                )
                if not await grading.run():
                    console.print("stopped; run the same command again to continue from here")
                    return None
        if batches is not None:
            await batches.finish()
    progress = progress_of(spend.spent, len(grading.gradings), len(grading.ungraded), total, currency)
    return grading, progress


def _write(run: PassageRun, out: Path) -> list[Path]:
    """Write graded.jsonl, the questions that were made, and which passages have no grades."""
    passages = run.passages
    lines = grouped((each.query, run.record(each)) for each in passages.pooled)
    made = [] if passages.banks is not None else list(run.banks.values())
    files: dict[str, Sequence[Any]] = {
        "graded.jsonl": [[query, records] for query, records in lines.items()],
        "ungraded.jsonl": [asdict(passage) for passage in run.ungraded],
    }
    if made:  # a bank that was made before stays: people edit it, and give it to the next run
        files["bank.jsonl"] = [bank_record(passages.queries[bank.query_id], bank) for bank in made]
    for name, rows in files.items():
        if not rows:
            (out / name).unlink(missing_ok=True)  # of an earlier run
            continue
        part = out / f"{name}.part"
        part.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        part.replace(out / name)
    return [out / name for name, rows in files.items() if rows]


def _print_summary(run: PassageRun, written: Sequence[Path], progress: Progress) -> None:
    reasons = ", ".join(
        f"{count} {reason}" for reason, count in Counter(passage.reason for passage in run.ungraded).items()
    )
    calls = f"{many(progress.calls, 'call')} {money(progress)}".strip()
    click.echo(f"{progress.done} of {many(progress.total, 'passage')} graded, with {calls}")
    if run.ungraded:
        first = run.ungraded[0]
        click.echo(
            f"not graded: {reasons}; the first, {first.passage} of query {first.query}: {first.detail}"
        )
    for file in written:
        click.echo(f"written: {file}")
    if any_offline(grading.model for grading in run.gradings.values()):
        click.echo(_OFFLINE, err=True)
    if not run.gradings:
        raise click.ClickException("no passage was graded; the same command tries again")
