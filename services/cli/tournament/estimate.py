"""`nuggetstream tournament run --dry-run`: how many answers, battles and calls, before anything is paid.

A few queries are answered and their battles evaluated by the offline model, in a temporary folder. What that
asks for is multiplied to the whole plan, as `eval --dry-run` does.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import comb
from pathlib import Path
from tempfile import TemporaryDirectory

from nuggetstream.files.numerals import many
from services.cli.evaluation.asking import CountedSpend
from services.cli.evaluation.dry_run import StageCalls, estimate
from services.cli.evaluation.run import Progress
from services.cli.tournament.agents import STAGE
from services.cli.tournament.answering import AnswerRun, stored_answers
from services.cli.tournament.opening import Given, open_agents
from services.cli.tournament.plan import BuiltIn, Others
from services.cli.tournament.running import read_contents
from services.cli.wiring.dry_run_endpoints import dry_run_endpoints, offline_embedding, offline_llm
from services.cli.wiring.prepared import migrated_database
from services.runtime.llm.accounting import Spend
from services.runtime.llm.prices import Tokens

_SAMPLE = 10  # queries


async def lines_of_estimate(
    given: Given,
    out: Path | None,
    report: Callable[[Progress], None],
    stop: asyncio.Event,
    *,
    batched: bool = False,
) -> list[str] | None:
    """What a tournament would take, in sentences and a table; None when it was stopped.

    Args:
        given: What it is played with.
        out: Folder with the answers that are stored already; None where there is none.
        report: Is called with the progress.
        stop: Ends the run early.
        batched: Whether calls would wait for batches, at their price.
    """
    plan, names = given.plan, list(given.queries)
    stored = {name: _stored(out, name) & set(names) for name in plan.agents}
    missing = {name: len(names) - len(own) for name, own in stored.items()}
    most = len(names) * comb(len(plan.agents), 2)
    battles = most if plan.budget is None else min(plan.budget, most)
    lines = list(_counts(given, missing, battles))
    if sum(not isinstance(agent, Others) for agent in plan.agents.values()) < 2:
        return [*lines, "The calls of the evaluation are unknown before a system of its own has answered."]
    sample = random.Random(0).sample(names, min(_SAMPLE, len(names)))  # noqa: S311 - not a secret
    drawn = replace(
        given,
        plan=plan.model_copy(update={"budget": None}),
        queries={name: given.queries[name] for name in sample},
        choices=replace(
            given.choices,
            llm=offline_llm(given.choices.llm),
            embedding=offline_embedding(given.choices.embedding),
            dry_run=dry_run_endpoints(given.choices.llm),
        ),
    )
    with TemporaryDirectory(prefix="nuggetstream-dry-run-") as folder:
        answered = await _answered(drawn, Path(folder), stop)
        if answered is None:
            return None
        contents = read_contents(drawn, Path(folder), ())
        estimated = await estimate(contents.lines, given.choices, report, stop, batched=batched)
    if estimated is None:
        return None
    whole = replace(estimated, battles=battles, fixed=_scaled(given, answered, missing))
    return [*lines, *whole.lines()]


def _stored(out: Path | None, agent: str) -> set[str]:
    return set() if out is None else {str(row.value.get("qid")) for row in stored_answers(out, agent)}


def _counts(given: Given, missing: Mapping[str, int], battles: int) -> Iterator[str]:
    """How many answers and battles there will be, at most."""
    answers = len(given.queries) * len(missing)
    waiting = sum(missing.values())
    yield f"{many(waiting, 'answer')} to get, {answers - waiting:,} of {answers:,} are stored"
    yield f"{many(battles, 'battle')} if every agent answers every query"
    others = {name: missing[name] for name, agent in given.plan.agents.items() if isinstance(agent, Others)}
    for name, calls in others.items():
        yield f"{name}: {many(calls, 'call')} of a system of its own, whose costs are unknown here"


async def _answered(given: Given, folder: Path, stop: asyncio.Event) -> Spend | None:
    """Answer the queries by the offline model; returns what that took, or None when it was stopped."""
    async with migrated_database(folder) as database:
        spend = CountedSpend(database)
        async with open_agents(given, database, spend, asks_others=False) as agents:
            run = AnswerRun(agents=agents, queries=given.queries, out=folder, stop=stop)
            return spend.spent if await run.run() else None


def _scaled(given: Given, spent: Spend, missing: Mapping[str, int]) -> dict[str, StageCalls]:
    """The calls of built-in agents: one per answer, and one per query for variations, which agents share."""
    built_in = {name: each for name, each in given.plan.agents.items() if isinstance(each, BuiltIn)}
    varied = [missing[name] for name, agent in built_in.items() if agent.kind == "rag_fusion"]
    calls = sum(missing[name] for name in built_in) + max(varied, default=0)
    share = calls / max(spent.calls, 1)
    tokens = Tokens(round(spent.tokens.input * share), round(spent.tokens.output * share))
    return {STAGE: StageCalls(calls=calls, tokens=tokens)} if built_in else {}
