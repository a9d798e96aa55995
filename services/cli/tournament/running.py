"""Play a tournament: get the answers, evaluate the battles, and write and print the standings."""

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group

from nuggetstream.domain.lens import Lens
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.pairing import Pair
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.queries import read_queries
from nuggetstream.files.writing import write_json, write_table
from nuggetstream.ratings.fitting.tally import Tally
from services.cli.evaluation.asking import CountedSpend, progress_of
from services.cli.evaluation.batching import batches_of, waiting_for_batches
from services.cli.evaluation.files import STATE, Contents, Continuing, evaluate, name_rejected, sharing
from services.cli.evaluation.folder import Evaluated
from services.cli.evaluation.kept_lines import Keeper, KeptLine
from services.cli.evaluation.meter import Meter
from services.cli.evaluation.results import RESULTS, write_lines
from services.cli.tournament.agents import STAGE
from services.cli.tournament.answering import AnswerRun, Unanswered
from services.cli.tournament.experts import (
    compared,
    evaluator_grades,
    expert_grades,
    experts_table,
    read_experts,
)
from services.cli.tournament.opening import Given, documents_of, open_agents
from services.cli.tournament.pairs import battle_lines, read_answers
from services.cli.tournament.plan import read_plan
from services.cli.tournament.rounds import add_chosen, next_pairs, read_chosen
from services.cli.tournament.standings import (
    STANDINGS,
    AgentAnswers,
    CastVote,
    Standings,
    answers_of,
    boards_of,
    elo_of,
    pairs_of,
    paper_tables,
    retrieval_of,
    run_text,
    tally_of,
    votes_of,
)
from services.cli.tournament.terminal import printed_tables
from services.cli.wiring.data_folder import locked_folder
from services.cli.wiring.embedded import Choices
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.prepared import migrated_database
from services.cli.wiring.process import STOPPED, read_settings
from services.cli.wiring.settings import PipelineSettings, embedded_pipeline
from services.cli.wiring.tuning import BATCHED_BATTLES
from services.runtime.llm.settings import LLMSettings

UNANSWERED, VOTES, PAIRS, RUNS = "unanswered.jsonl", "votes.csv", "pairs.csv", "runs"
Show = Callable[[Group, Mapping[str, Any]], None]
"""Prints tables, or the same as JSON."""

_OF_PLAN = Continuing(alone=True)  # a folder may have battles of agents that the plan no longer has


async def read_given(path: Path, out: Path, grace: float) -> Given:
    """The plan with its queries and documents, and how battles are evaluated.

    Args:
        path: The plan.
        out: Folder of the tournament.
        grace: Seconds that work in flight gets when the run is stopped.

    Raises:
        UnusableFile: A file cannot be used; names file, line and field.
    """
    plan = read_plan(path)
    queries = read_queries(plan.queries)
    choices = Choices(
        folder=out / STATE,
        pipeline=sharing(embedded_pipeline(read_settings(PipelineSettings))),
        fetch=read_settings(FetchSettings),
        llm=read_settings(LLMSettings),
        grace=grace,
    )
    return Given(plan, queries, await documents_of(plan, choices), choices)


async def play(
    given: Given, out: Path, console: Console, show: Show, stop: asyncio.Event, *, batched: bool = False
) -> int | None:
    """Play a tournament; returns the exit code, or None for 0.

    Args:
        given: What it is played with.
        out: Folder for all files, and for the state from which the same tournament goes on.
        console: Shows the progress.
        show: Prints the results.
        stop: Ends the run early.
        batched: Whether model calls wait for batches of the endpoint.

    Raises:
        click.ClickException: An agent lacks something, no query has two answers, or no endpoint has batches.
        UnusableFile: A file cannot be used; names file, line and field.
    """
    introduce(given, console)
    choices = given.choices

    def with_models() -> Given:
        """What is given, with batches of its own for each phase of the calls."""
        if not batched:
            return given
        own = choices.in_batches(batches_of(choices.llm, out / STATE, console))
        return replace(given, choices=own)

    unanswered = await get_answers(with_models(), out, console, stop)
    evaluated = None
    if unanswered is not None:
        evaluated = await evaluate_pairs(with_models, out, unanswered, console, stop)
    if unanswered is None or evaluated is None:
        console.print("stopped; run the same command again to continue from here")
        return STOPPED
    standings = await compute(given, out, evaluated)
    write(standings, out)
    show(printed_tables(standings, evaluated.summary), standings.as_json())
    _print_missing(unanswered, out)
    return None


def introduce(given: Given, console: Console) -> None:
    """Say what is played with."""
    llm, documents = given.choices.llm, given.documents
    model = "the offline model" if llm.offline else llm.model_name
    console.print(
        f"{many(len(given.plan.agents), 'agent')}, {many(len(given.queries), 'query', 'queries')}, "
        f"{many(len(documents.texts), 'document')}; model: {model}",
        soft_wrap=True,
    )
    for name, why in list(documents.unread.items())[:3]:
        console.print(f"not read: {name}: {why}", markup=False, highlight=False, soft_wrap=True)
    if len(documents.unread) > 3:
        console.print(f"{len(documents.unread) - 3} more files were not read")


async def get_answers(
    given: Given, out: Path, console: Console, stop: asyncio.Event
) -> Sequence[Unanswered] | None:
    """Get the answers that are not stored; returns those that are missing, or None when it was stopped."""
    llm, currency = given.choices.llm, given.choices.llm.price_table().currency
    total, batches = len(given.queries) * len(given.plan.agents), given.choices.batches
    async with (
        locked_folder(out / STATE),
        migrated_database(out / STATE) as database,
        waiting_for_batches(batches, llm),
    ):
        spend = CountedSpend(database, currency)
        async with open_agents(given, database, spend) as agents:
            with Meter(console, total, unit="answers", result="a text") as meter:
                run = AnswerRun(
                    agents=agents,
                    queries=given.queries,
                    out=out,
                    stop=stop,
                    tell=cache(partial(console.print, "waiting for the model:", soft_wrap=True)),
                    report=lambda done, failed: meter.show(
                        progress_of(spend.spent, done, failed, total, currency)
                    ),
                    window=llm.concurrency if batches is None else BATCHED_BATTLES,
                )
                finished = await run.run()
        if finished and batches is not None:
            await batches.finish()
    write_lines(out / UNANSWERED, list(map(asdict, run.unanswered)))
    return run.unanswered if finished else None


async def evaluate_pairs(
    with_models: Callable[[], Given],
    out: Path,
    unanswered: Sequence[Unanswered],
    console: Console,
    stop: asyncio.Event,
) -> Evaluated | None:
    """Evaluate the battles of the plan, at once or in rounds; None when it was stopped before the end."""
    given = with_models()
    plan = given.plan
    if plan.pairs == "all" or plan.budget is None:
        contents = read_contents(given, out, unanswered)
        return await evaluate(contents, given.choices, console, stop, out=out, how=_OF_PLAN)
    pairs = list(read_answers(out, plan, given.queries).pairs())
    chosen = [pair for pair in read_chosen(out) if pair in set(pairs)]
    new = [] if chosen else next_pairs(pairs, (), Tally.count([]), plan.budget, plan.seed)
    while True:
        add_chosen(out, new)
        chosen += new
        contents = read_contents(given, out, unanswered, chosen)
        evaluated = await evaluate(contents, with_models().choices, console, stop, out=out, how=_OF_PLAN)
        if evaluated is None:
            return None
        tally = tally_of(list(votes_of(out / RESULTS, [Lens.JUDGE])), Lens.JUDGE)
        new = next_pairs(pairs, chosen, tally, plan.budget, plan.seed)
        if not new:
            return evaluated
        console.print(f"{many(len(chosen), 'battle')} so far; {len(new)} more, the most informative ones")


def read_contents(
    given: Given, out: Path, unanswered: Sequence[Unanswered], chosen: Collection[Pair] | None = None
) -> Contents:
    """The battles of the answers; of all, or of the pairs that were chosen.

    Raises:
        click.ClickException: There is none; says why.
    """
    keeper, lines, rejected = Keeper(out / STATE), list[KeptLine](), list[BadLine]()
    try:
        for line in battle_lines(out, given.plan, given.queries, chosen):
            if isinstance(line, BadLine):
                rejected.append(line)
            else:
                lines.append(keeper.keep(line))
    except UnusableFile as error:
        why = f": {unanswered[0].detail}" if unanswered else ""
        raise click.ClickException(f"no query has two answers, so there is no battle{why}") from error
    name_rejected(out / "answers", rejected)
    return Contents(out / "answers", lines, rejected)


async def compute(given: Given, out: Path, evaluated: Evaluated) -> Standings:
    """The standings, from the files of the tournament and the database."""
    plan, choices = given.plan, given.choices
    llm = choices.llm.for_stage(STAGE)
    prices = llm.price_table()
    async with migrated_database(out / STATE) as database:
        spend = CountedSpend(database, prices.currency)
        answers = await answers_of(out, plan, given.queries, spend, prices.price_of(llm.model_name))
    return await asyncio.to_thread(_computed, given, out, evaluated, answers, prices.currency)


def _computed(
    given: Given, out: Path, evaluated: Evaluated, answers: Mapping[str, AgentAnswers], currency: str
) -> Standings:
    lenses = (Lens(given.choices.pipeline.nugget_lens), Lens.JUDGE)
    votes = list(votes_of(out / RESULTS, lenses))
    write_table(out / VOTES, list(CastVote.__dataclass_fields__), map(asdict, votes))
    tallies = {lens: tally_of(votes, lens) for lens in lenses}
    qrels, table, grades = given.plan.qrels, None, None
    if given.plan.experts is not None:
        experts = read_experts(given.plan.experts, given.queries, list(given.plan.agents))
        agreements = list(compared(evaluator_grades(out / RESULTS, given.queries), experts))
        table, grades = experts_table(agreements, experts), expert_grades(agreements)
    rankings = {name: own.rankings for name, own in answers.items()}
    return Standings(
        agents=answers,
        boards=boards_of(evaluated.boards, lenses, given.plan.arena),
        elo=elo_of(tallies[Lens.JUDGE]),
        pairs={lens.value: pairs_of(tally) for lens, tally in tallies.items()},
        retrieval=None if qrels is None else retrieval_of(qrels, rankings),
        currency=currency,
        experts=table,
        expert_grades=grades,
    )


def write(standings: Standings, out: Path) -> None:
    """Write tournament.json, pairs.csv, RAGElo's two tables, and a run file per agent."""
    content = standings.as_json()
    write_json(out / STANDINGS, content)
    columns = ["lens", "system", "opponent", "battles", "wins", "losses", "ties", "both_bad", "share"]
    write_table(out / PAIRS, columns, content["pairs"])
    for name, (titles, rows) in paper_tables(standings).items():
        write_table(out / name, titles, rows)
    (out / RUNS).mkdir(exist_ok=True)
    for earlier in (out / RUNS).glob("*.run"):  # of agents that the plan has no longer, too
        earlier.unlink()
    for name, own in standings.agents.items():
        (out / RUNS / f"{name}.run").write_text(run_text(name, own.rankings), encoding="utf-8")


def _print_missing(unanswered: Sequence[Unanswered], out: Path) -> None:
    if unanswered:
        first = unanswered[0]
        sentence = f"{many(len(unanswered), 'answer')} missing, see {out / UNANSWERED}"
        click.echo(f"{sentence}; the first, of {first.agent} to {first.query}: {first.detail}", err=True)
        click.echo("the same command asks again for what is missing", err=True)
    click.echo(f"written: {out / STANDINGS}, {out / RESULTS}, {out / VOTES} and {out / RUNS}", err=True)


def as_json(_: Group, content: Mapping[str, Any]) -> None:
    """Print the results as JSON."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))
