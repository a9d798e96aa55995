"""`nuggetstream tournament queries`: a model writes the queries that documents answer.

documents  ->  cuts of about 2,000 tokens, drawn  ->  queries of each cut  ->  those that it answers
           ->  different ones, drawn  ->  a file of queries, and one of those that are held back
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click
from rich.console import Console

from nuggetstream.domain.identity import derived_id
from nuggetstream.files.numerals import many
from services.cli.evaluation.asking import CountedSpend, for_each, open_model, progress_of, through
from services.cli.evaluation.dry_run import Estimate, StageCalls
from services.cli.evaluation.meter import Meter, money
from services.cli.tournament.query_cuts import Cut, MadeQuery, different, drawn_cuts, drawn_queries
from services.cli.tournament.query_prompts import answered_prompt, queries_prompt
from services.cli.wiring.data_folder import locked_folder
from services.cli.wiring.dry_run_endpoints import offline_llm
from services.cli.wiring.prepared import migrated_database
from services.cli.wiring.process import STOPPED
from services.runtime.errors import StageError
from services.runtime.llm.accounting import MemorySpendStore
from services.runtime.llm.model import ChatModel
from services.runtime.llm.settings import LLMSettings

STAGE = "queries"
_SAMPLE = 10  # cuts


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What queries are wanted.

    Attributes:
        number: How many.
        per_cut: How many a model writes about a cut, at most.
        held_back: Share that is held back, in [0, 1).
        examples: Queries that show how people ask.
        seed: Which cuts and queries are drawn.
        models: Settings of the models, which take cuts in turn.
    """

    number: int
    per_cut: int
    held_back: float
    examples: Sequence[str]
    seed: int
    models: Sequence[LLMSettings]


@dataclass(slots=True)
class QueryRun:
    """One run over cuts.

    Attributes:
        models: The models, which take cuts in turn.
        wanted: What queries are wanted.
        stop: Ends the run early.
        tell: Is told why a model is away.
        report: Is called with the numbers of cuts that gave queries, and that did not.
        made: The queries that their cut answers, by the number of the cut.
        rejected: How many queries their cut does not answer.
        failed: Why cuts gave no queries.
    """

    models: Sequence[ChatModel]
    wanted: Wanted
    stop: asyncio.Event
    tell: Callable[[str], None] = print
    report: Callable[[int, int], None] = lambda done, failed: None  # noqa: ARG005 - nobody looks
    made: dict[int, list[MadeQuery]] = field(default_factory=dict)
    rejected: int = 0
    failed: list[str] = field(default_factory=list)

    async def run(self, cuts: Sequence[Cut], window: int = 16) -> bool:
        """Let the models write queries about the cuts; False when it was stopped before the end."""
        await for_each(enumerate(cuts), self._make, self.stop, window)
        return not self.stop.is_set()

    async def _make(self, item: tuple[int, Cut]) -> None:
        number, cut = item
        model = self.models[number % len(self.models)]
        made = await through(lambda: self._of(cut, model), self.stop, STAGE, self.tell)
        if isinstance(made, StageError):
            self.failed.append(made.reason.value)
        elif made is not None:
            self.made[number] = made
        self.report(len(self.made), len(self.failed))

    async def _of(self, cut: Cut, model: ChatModel) -> list[MadeQuery]:
        """The queries about a cut that it answers."""
        name = booked(cut)
        asked = queries_prompt(cut.text, self.wanted.examples, self.wanted.per_cut)
        reply = await model.ask(asked, stage=STAGE, battle_id=name)
        texts = dict.fromkeys(" ".join(query.split()) for query in reply.value.queries if query.strip())
        queries = {f"q{n}": query for n, query in enumerate(list(texts)[: self.wanted.per_cut], start=1)}
        if not queries:
            return []
        checked = await model.ask(answered_prompt(cut.text, queries), stage=STAGE, battle_id=name)
        answered = [text for id_, text in queries.items() if id_ in checked.value.answered]
        self.rejected += len(queries) - len(answered)
        return [MadeQuery(text, cut.document, cut.number, reply.model) for text in answered]


def booked(cut: Cut) -> str:
    """The id under which the calls about a cut are booked."""
    return derived_id("tournament queries", cut.document, cut.number, cut.text)


async def make_queries(
    texts: Mapping[str, str], wanted: Wanted, out: Path, console: Console, stop: asyncio.Event
) -> int | None:
    """Make queries and write the files; returns the exit code, or None for 0.

    Args:
        texts: Text of each document by its id.
        wanted: What queries are wanted.
        out: The file of queries; its name with `.state` is the folder of the replies.
        console: Shows the progress.
        stop: Ends the run early.

    Raises:
        click.ClickException: No query was made.
    """
    cuts = drawn_cuts(texts, wanted.number, wanted.per_cut, wanted.seed)
    state, currency = out.with_name(f"{out.name}.state"), wanted.models[0].price_table().currency
    async with AsyncExitStack() as opened:
        await opened.enter_async_context(locked_folder(state))
        database = await opened.enter_async_context(migrated_database(state))
        spend = CountedSpend(database, currency)
        models = [await opened.enter_async_context(open_model(llm, spend, database)) for llm in wanted.models]
        meter = opened.enter_context(Meter(console, len(cuts), unit="cuts", result="queries"))
        run = QueryRun(
            models=models,
            wanted=wanted,
            stop=stop,
            tell=lambda why: console.print("waiting for the model:", why, soft_wrap=True),
            report=lambda done, failed: meter.show(
                progress_of(spend.spent, done, failed, len(cuts), currency)
            ),
        )
        if not await run.run(cuts, wanted.models[0].concurrency):
            console.print("stopped; run the same command again to continue from here")
            return STOPPED
        progress = progress_of(spend.spent, len(run.made), len(run.failed), len(cuts), currency)
    made = [query for number in sorted(run.made) for query in run.made[number]]
    own = different(made)
    public, hidden = drawn_queries(own, wanted.number, wanted.held_back, wanted.seed)
    if not own:
        why = _reasons(run) or "no cut answers one"
        raise click.ClickException(f"no query was made of {many(len(cuts), 'cut')}: {why}")
    calls = f"{many(progress.calls, 'call')} {money(progress)}".strip()
    click.echo(
        f"{many(len(made) + run.rejected, 'query', 'queries')} of {many(len(cuts), 'cut')} with {calls}: "
        f"{run.rejected} that the cut does not answer, {len(made) - len(own)} alike, "
        f"{len(public) + len(hidden)} kept, {len(hidden)} of them held back"
    )
    if run.failed:
        click.echo(f"without queries: {_reasons(run)}")
    for file, queries in ((out, public), (held_back_file(out), hidden)):
        if queries:
            _write(file, queries)
            click.echo(f"written: {file}")
    return None


async def estimate_queries(texts: Mapping[str, str], wanted: Wanted, stop: asyncio.Event) -> int | None:
    """Print what the calls would cost: queries of a few cuts are made by the offline model."""
    cuts = drawn_cuts(texts, wanted.number, wanted.per_cut, wanted.seed)
    sample, spend = cuts[:_SAMPLE], MemorySpendStore()
    async with open_model(offline_llm(wanted.models[0]), spend) as model:
        if not await QueryRun(models=[model], wanted=wanted, stop=stop).run(sample):
            return STOPPED
    calls = []
    for number, cut in enumerate(sample):
        spent, llm = await spend.of_battle(booked(cut)), wanted.models[number % len(wanted.models)]
        calls.append({f"{STAGE} {llm.model_name}": StageCalls(spent.calls, spent.tokens, llm.model_name)})
    estimated = Estimate(
        battles=len(cuts),
        sample=calls,
        model=wanted.models[0].model_name,
        prices=wanted.models[0].price_table(),
        unit="cuts",
    )
    for line in estimated.lines():
        click.echo(line)
    return None


def held_back_file(out: Path) -> Path:
    """The file of the queries that are held back."""
    return out.with_name(f"{out.stem}.held-back{out.suffix}")


def _write(file: Path, queries: Sequence[MadeQuery]) -> None:
    rows = ({"id": query.id, "query": query.text} | asdict(query) for query in queries)
    lines = (json.dumps({k: v for k, v in row.items() if k != "text"}, ensure_ascii=False) for row in rows)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _reasons(run: QueryRun) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in Counter(run.failed).items())
