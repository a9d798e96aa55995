"""`nuggetstream canary`: let the configured judges compare the canary battles now."""

import asyncio
from typing import cast

import click

from services.cli.wiring.canary import open_canary_judges, problems_of, stored_run
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.parts import Parts
from services.cli.wiring.prepared import prepared_database
from services.cli.wiring.process import read_settings, run
from services.cli.wiring.settings import PipelineSettings, PlatformSettings, ServerSettings
from services.judge.canary.checking import CanaryRun, CanaryState
from services.runtime.bus import Bus
from services.runtime.llm.settings import LLMSettings
from services.store.work.canary_runs import CanaryRuns


@click.command("canary")
def command() -> None:
    """Let the configured judges compare, and the evaluators of answers grade, canary battles now.

    A canary battle is an answer against itself, with and without a sentence that tells the judge to prefer
    it. Alone it must be a tie, and the sentence must not win. Every judge and evaluator and every model of a
    panel is asked, with the settings of `serve judge`, about 24 calls each. The calls are booked, no earlier
    reply is used, and the result is stored for the page /canary. The database is that of
    NUGGETSTREAM_DATABASE_URL; `nuggetstream up` has its own in its data folder:
    sqlite+aiosqlite:///nuggetstream-data/nuggetstream.db.

    The exit status is 1 unless every battle passed.
    """
    platform, pipeline = read_settings(PlatformSettings), read_settings(PipelineSettings)
    fetch, llm = read_settings(FetchSettings), read_settings(LLMSettings)
    runs: list[CanaryRun] = []

    async def check(_: asyncio.Event) -> None:
        async with prepared_database(platform.database_url) as database:
            parts = Parts(
                bus=cast(Bus, None),  # nothing is published
                database=database,
                platform=platform,
                pipeline=pipeline,
                fetch=fetch,
                llm=llm,
            )
            async with open_canary_judges(parts) as judges:
                for judge in judges:
                    runs.append(await judge.run())
                    await CanaryRuns(database).put(stored_run(runs[-1]))

    run(check, read_settings(ServerSettings), drains=False)
    for judge_run in runs:
        click.echo(line_of(judge_run))
        for result in problems_of(judge_run):
            click.echo(f"    {result.name:<16} {result.state.value:<9} {result.detail}")
    if not runs or not all(judge_run.passed for judge_run in runs):
        raise SystemExit(1)


def line_of(run: CanaryRun) -> str:
    """The result of one judge and model as one line."""
    counts = [f"{run.count(state)} {state.value}" for state in CanaryState]
    return f"{run.evaluator:<20} {run.model:<24} {', '.join(counts)}"
