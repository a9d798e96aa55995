"""`nuggetstream demo`: run prepared battles through the whole platform, without a network.

With `--arena` people vote on them in a small arena instead.
"""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.console import Console

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.submission import parse_submission
from services.cli.demo.arena.running import RunningArena, running_arena
from services.cli.demo.battles import read_battles
from services.cli.demo.explain import explanation, pick
from services.cli.demo.folder import PAGES, STATE, claim, remove_earlier
from services.cli.demo.show import Stream
from services.cli.demo.site import demo_root, serve_site
from services.cli.demo.snapshot import save_pages
from services.cli.embedded import Choices, Embedded, embedded
from services.cli.embedding import EmbeddingSettings
from services.cli.evaluation import Evaluation
from services.cli.fetch_settings import FetchSettings
from services.cli.kept_lines import KeptLine, kept
from services.cli.process import read_settings, run
from services.cli.results import board_tables, write_results
from services.cli.settings import PipelineSettings, ServerSettings, embedded_pipeline, ranking_of
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import masked_url
from services.wire.evaluators import BESIDE_THE_JUDGE

# Network time of one page. One page of the demo never answers; on a busy machine large pages take a while.
_PAGE_SECONDS = 8.0
_ARENA_PORT = 8090


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out/demo"),
    show_default=True,
    help="Folder for results, pages and state. Files of an earlier demo are replaced; a folder with other "
    "files is rejected.",
)
@click.option(
    "--arena",
    is_flag=True,
    help="Serve a small arena until Ctrl-C: choose a question, vote on two answers, and see why.",
)
@click.option(
    "--http-port", type=int, help="With --arena: port of pages and API; 0 takes a free one.  [default: 8080]"
)
@click.option(
    "--arena-port", type=int, help="With --arena: port of the arena; 0 takes a free one.  [default: 8090]"
)
def command(out: Path, arena: bool, http_port: int | None, arena_port: int | None) -> None:
    """Stream the demo's battles through the whole platform and explain one of them.

    It starts a small web site with good and broken pages, a broker, a database and all services in
    this process. Nothing leaves this machine unless a model is configured.
    """
    if not arena and (http_port is not None or arena_port is not None):
        raise click.UsageError("--http-port and --arena-port need --arena")
    server = read_settings(ServerSettings).model_copy(update={"log_level": "error"})
    pipeline = embedded_pipeline(read_settings(PipelineSettings))
    llm = read_settings(LLMSettings)
    console = Console()

    async def demo(stop: asyncio.Event) -> None:
        claim(out)
        _introduce(console, pipeline, llm)
        await remove_earlier(out)
        async with serve_site(demo_root()) as site:
            choices = _choices(out / STATE, pipeline, llm, site)
            if arena:
                choices = replace(choices, http_port=server.http_port if http_port is None else http_port)
                port = _ARENA_PORT if arena_port is None else arena_port
                async with running_arena(choices, read_battles(demo_root(), site), port) as running:
                    click.echo(_banner(running))
                    await stop.wait()
                return
            async with embedded(_with_every_evaluator(choices)) as platform:
                await _show(console, platform, out, site, stop)

    run(demo, server)


def _choices(folder: Path, pipeline: PipelineSettings, llm: LLMSettings, site: str) -> Choices:
    fetch = FetchSettings(
        scraper_allowed_hosts=urlsplit(site).netloc,
        scraper_per_host_delay=0.0,
        scraper_total_seconds=_PAGE_SECONDS,
    )
    embedding = read_settings(EmbeddingSettings).quick_to_start(pipeline.embedding_model)
    return Choices(folder=folder, pipeline=pipeline, fetch=fetch, llm=llm, embedding=embedding)


def _with_every_evaluator(choices: Choices) -> Choices:
    """The configuration with all evaluators where they cost nothing, that is, with the offline model."""
    if not choices.llm.offline:
        return choices
    beside = [name for name in BESIDE_THE_JUDGE if name != choices.pipeline.evaluator]
    return replace(choices, evaluators=",".join(beside))


def _banner(running: RunningArena) -> str:
    return "\n".join(
        [
            f"arena    {running.url}/   (open it in a browser)",
            f"pages    {running.platform_url}/?arena=demo",
            f"board    {running.platform_url}/leaderboard?arena=demo",
            "Ctrl-C stops the arena. The first explanations take longer, as earlier battles are evaluated.",
        ]
    )


async def _show(console: Console, platform: Embedded, out: Path, site: str, stop: asyncio.Event) -> None:
    lines = _lines(site)
    ids = [line.id for line in lines]
    async with Stream(console, platform, ids):
        evaluation = Evaluation(platform=platform, lines=lines, report=lambda _: None, stop=stop)
        if not await evaluation.run():
            return
    views = [view async for view in evaluation.views()]
    console.print()
    for part in explanation(pick(views)):
        console.print(part)
    boards = await evaluation.boards()
    arenas = [line.arena for line in lines]
    pages = await save_pages(platform.url, out / PAGES, ids, arenas, site)
    write_results(out, list(evaluation.accepted.values()), evaluation.rejected, views, boards)
    for table in board_tables(boards):
        console.print()
        console.print(table)
    console.print(f"\npages:   {pages}   (open it in a browser)")
    console.print(f"results: {out / 'results.jsonl'}, {out / 'summary.json'}, {out / 'summary.txt'}")
    console.print(f"live:    {_this_command()} up --data-dir {out / STATE}   then http://127.0.0.1:8080/")


def _this_command() -> str:
    """The command by which this program was called, as a relative path where that is shorter."""
    relative = os.path.relpath(sys.argv[0])
    return sys.argv[0] if relative.startswith("..") else relative


def _introduce(console: Console, pipeline: PipelineSettings, llm: LLMSettings) -> None:
    model = (
        "offline heuristics: no OPENAI_API_KEY and no NUGGETSTREAM_LLM_BASE_URL"
        if llm.offline
        else f"{llm.model_name} at {masked_url(llm.url)}"
    )
    console.print(
        f"[bold]Nuggetstream demo[/bold]\n  evidence  {ranking_of(pipeline)}\n  model     {model}\n"
    )


def _lines(site: str) -> list[KeptLine]:
    submissions = [parse_submission(row) for row in read_battles(demo_root(), site)]
    return kept(
        BattleLine(number, submission, {"vote": submission.vote} if submission.vote else {})
        for number, submission in enumerate(submissions, start=1)
    )
