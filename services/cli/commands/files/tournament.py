"""`nuggetstream tournament …`: agents answer the queries of a plan, and their answers battle."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import (
    NEW_FOLDER,
    Number,
    needing_extras,
    plain_option,
    refusing,
    show,
    with_options,
)
from services.cli.evaluation.meter import Meter
from services.cli.tournament.running import as_json, introduce, play, read_given
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.process import STOPPED, read_settings, run, server_settings
from services.runtime.llm.settings import LLMSettings

QUERY_OPTIONS = (
    click.option(
        "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write."
    ),
    click.option(
        "--number", type=click.IntRange(min=1), default=100, show_default=True, help="Number of queries."
    ),
    click.option(
        "--per-cut",
        type=click.IntRange(1, 10),
        default=10,
        show_default=True,
        help="Number of queries that a model writes about a cut, at most.",
    ),
    click.option(
        "--model", "models", multiple=True, metavar="NAME", help="Model; several take cuts in turn."
    ),
    click.option(
        "--examples",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File of queries, one per line, that show how people ask.",
    ),
    click.option(
        "--hold-back",
        "held_back",
        type=Number(0, 0.9),
        default=0.0,
        show_default=True,
        help="Share of the queries that is written to a file of its own.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Which cuts and queries are drawn."),
    click.option("--dry-run", is_flag=True, help="Print calls and cost; ask no model, write nothing."),
)
_JSON = click.option("--json", "json_", is_flag=True, help="Print the results as one JSON object.")


@click.group("tournament")
def command() -> None:
    """Compare retrieval-augmented agents on documents and queries of your own.

    Every agent answers every query. Every two answers to a query become a battle, which goes through
    the stages of the platform as with `nuggetstream eval`.
    """


@command.command("run", short_help="Play the tournament of a plan.")
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=NEW_FOLDER,
    help="Folder for answers, results and state, from which the same command continues.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the answers, battles, calls and cost to expect, from a sample; ask no model, pay nothing.",
)
@click.option("--batch", is_flag=True, help="Ask in batches of the endpoint: half the price, within days.")
@plain_option
@_JSON
@needing_extras
def run_command(
    plan: Path, out: Path | None, *, dry_run: bool, batch: bool, plain: bool, json_: bool
) -> None:
    """Play the tournament of PLAN, a TOML file that names documents, queries and agents.

    Writes OUT/answers (one file per agent), OUT/runs (what each agent retrieved, as TREC has it), the
    results of `nuggetstream eval`, and OUT/tournament.json, OUT/pairs.csv and OUT/votes.csv. Prints
    ratings by nuggets and by the judge, Elo, who beat whom, costs and, with relevance labels, MRR and
    nDCG.

    Ctrl-C stops it. The same command continues, also with more queries, more agents or a larger budget,
    and pays for no answer and no call twice. Answers that are missing are asked for again. With --batch,
    it also continues with the batches that it uploaded.

    When PLAN cannot be used, the error names file, line and field, and the exit code is 2.
    """
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out'.")
    if dry_run:
        with refusing(UnusableFile):
            run(partial(_estimate, plan, out, batched=batch), server_settings(log_level="error"))
    else:
        _play(lambda: plan, out or Path(), batched=batch, plain=plain, json_=json_)


@command.command("queries", short_help="Let a model write queries that documents answer.")
@click.argument("documents", type=click.Path(path_type=Path))
@with_options(QUERY_OPTIONS)
@needing_extras
def queries_command(
    documents: Path, out: Path, examples: Path | None, *, dry_run: bool, **given: Any
) -> None:
    """Make a file of queries from DOCUMENTS, a folder or a JSONL file of {docid, text}.

    Documents are cut into parts of about 2,000 tokens. A model writes queries about a part, and is asked
    which of them the part answers. Of those that differ, as many are kept as wanted, from all documents
    alike. Each line has the query with its document, cut and model; edit it as you like: `tournament run`
    reads it. Ctrl-C stops it, and the same command continues and pays for nothing twice.
    """
    from nuggetstream.files.text import text_lines
    from services.cli.tournament.documents import read_collection
    from services.cli.tournament.queries import Wanted, estimate_queries, make_queries

    if out.exists() and not dry_run:
        raise click.UsageError(f"{out} is there already; move it, or name another file with --out")
    with refusing(UnusableFile):
        llm, names = read_settings(LLMSettings), given.pop("models")
        if names and llm.offline:
            raise click.UsageError("--model needs an endpoint: set NUGGETSTREAM_LLM_API_KEY")
        shown = [line.strip() for _, line in text_lines(examples)] if examples else []
        models = [llm.model_copy(update={"model": name}) for name in names] or [llm]
        wanted = Wanted(examples=shown, models=models, **given)

        async def main(stop: asyncio.Event) -> int | None:
            collection = await read_collection(documents, read_settings(FetchSettings).scraper())
            if dry_run:
                return await estimate_queries(collection.texts, wanted, stop)
            return await make_queries(collection.texts, wanted, out, Console(stderr=True), stop)

        run(main, server_settings(log_level="error"))


@command.command("demo", short_help="Play a small tournament, without a model.")
@click.option(
    "--out", type=NEW_FOLDER, default=Path("out/tournament"), show_default=True, help="Folder for all files."
)
@needing_extras
def demo_command(out: Path) -> None:
    """Play a small tournament: two agents answer eight queries about the pages of the demo.

    Nothing leaves this machine unless a model is configured.
    """
    _play(_demo_plan, out, batched=False, plain=False, json_=False)
    click.echo(f"plan     {_demo_plan()}   # copy it, and name documents and queries of your own")
    click.echo(f"answers  {out / 'answers'}")
    click.echo(f"report   nuggetstream report {out / 'results.jsonl'} --out {out / 'report'}")
    click.echo(f"battles  nuggetstream up --data-dir {out / 'state'}   # the pages, live")


def _demo_plan() -> Path:
    from services.cli.demo.site import demo_root

    return demo_root() / "tournament" / "plan.toml"


def _play(plan: Callable[[], Path], out: Path, *, batched: bool, plain: bool, json_: bool) -> None:
    shown = as_json if json_ else lambda group, _: show(group, plain=plain)
    console, server = Console(stderr=True), server_settings(log_level="error")

    async def main(stop: asyncio.Event) -> int | None:
        given = await read_given(plan(), out, server.grace)
        return await play(given, out, console, shown, stop, batched=batched)

    with refusing(UnusableFile):
        run(main, server, drains=not batched)  # what waits for a batch does not end soon


async def _estimate(plan: Path, out: Path | None, stop: asyncio.Event, *, batched: bool) -> int | None:
    from services.cli.tournament.estimate import lines_of_estimate

    console = Console(stderr=True)
    given = await read_given(plan, out or Path(), 0.0)
    introduce(given, console)
    with Meter(console, len(given.queries)) as meter:
        lines = await lines_of_estimate(given, out, meter.show, stop, batched=batched)
    if lines is None and stop.is_set():
        return STOPPED
    if lines is None:
        raise click.ClickException("no battle was evaluated, so there is no estimate")
    for line in lines:
        click.echo(line)
    return None
