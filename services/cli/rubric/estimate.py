"""`nuggetstream rubric grade --dry-run`: what the calls would cost that no kept reply saves."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import click

from nuggetstream.files.numerals import many
from nuggetstream.rubric.pooling import PooledPassage
from services.cli.evaluation.asking import open_model
from services.cli.evaluation.dry_run import SAMPLE, Estimate, StageCalls
from services.cli.rubric.asked_together import FILE, AskedTogether
from services.cli.rubric.grading import PassageRun, event_of
from services.cli.rubric.job import Job
from services.cli.wiring.data_folder import locked_folder
from services.cli.wiring.dry_run_endpoints import offline_llm
from services.cli.wiring.prepared import migrated_database
from services.cli.wiring.process import STOPPED
from services.runtime.llm.accounting import MemorySpendStore, SpendStore
from services.runtime.llm.client import LLMClient


async def print_estimate(job: Job, state: Path | None, stop: asyncio.Event) -> int | None:
    """Print what the calls would cost: a sample of the passages is graded by the offline model.

    Args:
        job: What is to be graded.
        state: State of the run that goes on, whose replies are not paid for again; None for a new run.
        stop: Ends the estimate early.

    Returns:
        The exit code, or None for 0.
    """
    spend = MemorySpendStore()
    async with _kept(job, state) as (keeper, asked), open_model(offline_llm(job.llm), spend) as model:
        run = PassageRun(passages=job.passages, panel=job.panel(model), stop=stop, keeper=keeper, asked=asked)
        gradable = await run.begin()
        needing = [(passage, missing) for passage in gradable if (missing := await run.missing(passage))]
        sample = random.Random(0).sample(needing, min(SAMPLE, len(needing)))  # noqa: S311 - not a secret
        unmade = len(run.without_bank([passage for passage, _ in needing]))
        made = run.without_bank([passage for passage, _ in sample])
        for query in made:
            await run.make_bank(query)
        for passage, parts in sample:
            for part in parts:
                await run.ask(passage, part)
        if stop.is_set():
            return STOPPED
    if kept := len(gradable) - len(needing):
        click.echo(f"{kept} of {many(len(gradable), 'passage')} need no call: the replies are kept.")
    if not needing:
        return None
    estimated = Estimate(
        battles=len(needing),
        sample=await _calls(spend, "grades", [passage for passage, _ in sample]),
        model=job.llm.model_name,
        prices=job.llm.price_table(),
        batched=job.batched,
        unit="passages",
    )
    if made:
        banks = await _calls(spend, "questions", [PooledPassage(query, "") for query in made])
        estimated = replace(estimated, fixed=replace(estimated, battles=unmade, sample=banks).by_stage())
    for line in estimated.lines():
        click.echo(line)
    return None


@asynccontextmanager
async def _kept(job: Job, state: Path | None) -> AsyncIterator[tuple[LLMClient | None, AskedTogether]]:
    """The model whose kept replies are read, and which questions were asked together, of an earlier run."""
    if state is None:
        yield None, AskedTogether()
        return
    async with (
        locked_folder(state),
        migrated_database(state) as database,
        open_model(job.llm, MemorySpendStore(), database) as model,
    ):
        yield model, AskedTogether.read(state / FILE)


async def _calls(
    spend: SpendStore, name: str, passages: Iterable[PooledPassage]
) -> Sequence[Mapping[str, StageCalls]]:
    spent = [await spend.of_battle(event_of(passage, "", "").battle.id) for passage in passages]
    return [{name: StageCalls(cost.calls, cost.tokens)} for cost in spent]
