"""Runs that ask a model about many items: its client, what it costs, and waiting while it is away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from services.cli.evaluation.run import Progress
from services.judge.registry import heuristics
from services.offline.app import create_app
from services.runtime.errors import ModelOutage, StageError
from services.runtime.llm.accounting import Entry, Spend, SpendStore
from services.runtime.llm.batches.transport import Batches
from services.runtime.llm.build import build_chat_model, with_asgi
from services.runtime.llm.client import LLMClient
from services.runtime.llm.prompt import TASKS
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import KNOWN
from services.runtime.runner.outage import through_outages
from services.store.content.blobs import Replies
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore

T = TypeVar("T")
Item = TypeVar("Item")


class CountedSpend(DatabaseSpendStore):
    """Costs in the database, and what this run has spent."""

    spent = Spend()

    async def add(self, entry: Entry) -> None:
        """Store one entry."""
        await super().add(entry)
        self.spent += entry


@asynccontextmanager
async def open_model(
    llm: LLMSettings, spend: SpendStore, database: Database | None = None, batches: Batches | None = None
) -> AsyncIterator[LLMClient]:
    """The chat model; its replies are stored in the database, or without one in memory."""
    http = with_asgi(create_app(None, more=heuristics)) if llm.offline else None
    model = build_chat_model(
        llm,
        None if database is None else Replies(database),
        spend=spend,
        http=http if batches is None else batches.http(llm),
        tasks=(*TASKS, *heuristics()),
        batched=batches is not None,
    )
    try:
        yield model
    finally:
        await model.close()


def progress_of(spent: Spend, done: int, failed: int, total: int, currency: str) -> Progress:
    """The progress of a run, with what it has spent."""
    cost = None if spent.unpriced else spent.amount
    return Progress(done=done, failed=failed, total=total, cost=cost, currency=currency, calls=spent.calls)


async def through(
    ask: Callable[[], Awaitable[T]], stop: asyncio.Event, stage: str, tell: Callable[[str], None]
) -> T | StageError | None:
    """What the model gives, or why it gives nothing; None when the run was stopped meanwhile.

    Args:
        ask: Asks the model.
        stop: Ends the waiting.
        stage: Label of the stage in the metrics.
        tell: Is told why the model is away, whenever it was asked in vain.
    """
    answers: list[T] = []

    async def attempt() -> None:
        try:
            answers.append(await ask())
        except ModelOutage as away:
            tell(KNOWN.redact(away.for_operators))
            raise

    try:
        await through_outages(attempt, float, stop, stage)
    except StageError as error:
        return error
    return answers[0] if answers else None


async def for_each(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], stop: asyncio.Event, window: int
) -> None:
    """Work on all items, a window of them at once, until the run is stopped."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            if stop.is_set():
                return
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(window):
            group.create_task(worker())
