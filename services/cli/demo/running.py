"""Run the demo: its battles through the whole platform, or its arena."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.submission import parse_submission
from services.cli.demo.arena.running import RunningArena, running_arena
from services.cli.demo.battles import read_battles
from services.cli.demo.boards import boards_in_short
from services.cli.demo.browser import open_url
from services.cli.demo.explain import explanation, pick
from services.cli.demo.next_steps import next_steps
from services.cli.demo.progress import ProgressLine
from services.cli.demo.site import demo_root, serve_site
from services.cli.demo.snapshot import save_pages
from services.cli.evaluation.demo_folder import PAGES, STATE, VECTORS, claim, remove_earlier
from services.cli.evaluation.kept_lines import KeptLine, kept
from services.cli.evaluation.results import write_results
from services.cli.evaluation.run import Evaluation
from services.cli.wiring.embedded import Choices, Embedded, embedded
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.process import STOPPED, read_settings, run, server_settings
from services.cli.wiring.registry import HTTP_PORT
from services.cli.wiring.settings import PipelineSettings, embedded_pipeline, ranking_of
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import masked_url
from services.wire.evaluators import EVALUATORS

# Network time of one page. One page of the demo never answers; on a busy machine large pages take a while.
_ARENA_PORT = 8090


def run_demo(out: Path, progress: ProgressLine, *, in_browser: bool) -> None:
    """Run the battles, explain one, and print the boards in short and where to look next."""
    pipeline, llm = embedded_pipeline(read_settings(PipelineSettings)), read_settings(LLMSettings)
    pages: list[Path] = []  # the start page, once there is one

    async def demo(stop: asyncio.Event) -> int:
        async with (
            _site(out, progress, pipeline, llm) as (choices, site),
            embedded(_with_every_evaluator(choices)) as platform,
        ):
            pages.extend(await _show(progress, platform, out, site, stop))
        return 0 if pages else STOPPED

    run(demo, server_settings(log_level="error"))
    if in_browser:
        for page in pages:
            open_url(page.resolve().as_uri())


def run_arena(
    out: Path, progress: ProgressLine, http_port: int | None, arena_port: int | None, *, in_browser: bool
) -> None:
    """Serve the arena until a signal."""
    server = server_settings(log_level="error")
    pipeline, llm = embedded_pipeline(read_settings(PipelineSettings)), read_settings(LLMSettings)

    async def serve(stop: asyncio.Event) -> None:
        async with _site(out, progress, pipeline, llm) as (choices, site):
            served = replace(choices, http_port=HTTP_PORT if http_port is None else http_port)
            port = _ARENA_PORT if arena_port is None else arena_port
            async with running_arena(served, read_battles(demo_root(), site), port) as running:
                progress.stop()
                if not stop.is_set():
                    click.echo(_banner(running))
                    if in_browser:
                        await asyncio.to_thread(open_url, running.url)
                await stop.wait()

    run(serve, server)


@asynccontextmanager
async def _site(
    out: Path, progress: ProgressLine, pipeline: PipelineSettings, llm: LLMSettings
) -> AsyncIterator[tuple[Choices, str]]:
    """Serve the pages of the demo; yields the configuration that fetches them, and their base URL."""
    claim(out)
    _introduce(progress, pipeline, llm)
    await remove_earlier(out)
    async with serve_site(demo_root()) as site:
        fetch = FetchSettings(
            scraper_allowed_hosts=(urlsplit(site).netloc,),
        )
        embedding = read_settings(EmbeddingSettings)
        choices = Choices(
            folder=out / STATE,
            pipeline=pipeline,
            fetch=fetch,
            llm=llm,
            embedding=embedding,
            kept_vectors=out / STATE / VECTORS,
        )
        yield choices, site


def _with_every_evaluator(choices: Choices) -> Choices:
    """The configuration with all evaluators where they cost nothing, that is, with the offline model."""
    if not choices.llm.offline:
        return choices
    beside = tuple(name for name in EVALUATORS if name != choices.pipeline.judge_evaluator)
    return replace(choices, evaluators=beside)


def _banner(running: RunningArena) -> str:
    return "\n".join(
        [
            f"arena    {running.url}/   (open it in a browser)",
            f"pages    {running.platform_url}/?arena=demo",
            f"board    {running.platform_url}/leaderboard?arena=demo",
            "Ctrl-C stops the arena. The first explanations take longer, as earlier battles are evaluated.",
        ]
    )


async def _show(
    progress: ProgressLine, platform: Embedded, out: Path, site: str, stop: asyncio.Event
) -> list[Path]:
    """Run the battles and print the result; returns the start page, or nothing where it was stopped."""
    lines = _lines(site)
    evaluation = Evaluation(platform=platform, lines=lines, report=progress.battles, stop=stop)
    if not await evaluation.run():
        return []
    progress.phase("Saving results and pages")
    views = [view async for view in evaluation.views()]
    boards = await evaluation.boards()
    ids, arenas = [line.id for line in lines], [line.arena for line in lines]
    page = await save_pages(platform.url, out / PAGES, ids, arenas, site)
    write_results(out, list(evaluation.accepted.values()), evaluation.rejected, views, boards)
    progress.stop()
    progress.console.print()
    for part in (*explanation(pick(views)), "", *boards_in_short(boards), ""):
        progress.console.print(part)
    for line in next_steps(out, page):
        click.echo(line)
    return [page]


def _introduce(progress: ProgressLine, pipeline: PipelineSettings, llm: LLMSettings) -> None:
    model = (
        "offline heuristics (no OPENAI_API_KEY, no NUGGETSTREAM_LLM_BASE_URL)"
        if llm.offline
        else f"{llm.model_name} at {masked_url(llm.url)}"
    )
    progress.console.print(
        f"Model: {model}.\nEvidence: {ranking_of(pipeline)}.", soft_wrap=True, markup=False
    )
    progress.phase("Starting broker, database and services")


def _lines(site: str) -> list[KeptLine]:
    submissions = [parse_submission(row) for row in read_battles(demo_root(), site)]
    return kept(
        BattleLine(number, submission, {"vote": submission.vote} if submission.vote else {})
        for number, submission in enumerate(submissions, start=1)
    )
