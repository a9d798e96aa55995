"""Calls that are paid for: within the budget, under the limit, tried again with patience, booked."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from services.runtime import metrics
from services.runtime.errors import StageError, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, Source
from services.runtime.llm.dialect import Question
from services.runtime.llm.endpoint import CallFailed, Completion, Endpoint
from services.runtime.llm.limiter import AdaptiveLimit, Slot
from services.runtime.llm.patience import Patience
from services.runtime.llm.prices import Money, Tokens, estimate_tokens


@dataclass(slots=True)
class Account:
    """On whose account calls are made, and what has been booked on it."""

    stage: str
    battle_id: str
    entries: list[Entry] = field(default_factory=list)

    @property
    def tokens(self) -> Tokens:
        """Of all calls."""
        return sum((entry.tokens for entry in self.entries), Tokens())

    @property
    def cost(self) -> Money | None:
        """Of all calls; None when one has no price."""
        costs = [entry.cost for entry in self.entries]
        known = [cost for cost in costs if cost is not None]
        return sum(known[1:], known[0]) if known and len(known) == len(costs) else None


@dataclass(slots=True)
class Caller:
    """Brings back completions from one endpoint.

    Attributes:
        sleep, rng: of the retries; fakes in tests.
    """

    endpoint: Endpoint
    ledger: Ledger
    limit: AdaptiveLimit
    patience: Patience
    rng: random.Random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def complete(self, question: Question, account: Account) -> Completion:
        """One completion, after as many tries as patience allows.

        Raises:
            StageError: what the last failure amounts to.
            BudgetExceeded: before a call that does not fit.
        """
        failures = 0
        while True:
            try:
                return await self._try(question, account)
            except CallFailed as failed:
                failures += 1
                wait = self.patience.wait(failures, failed.asked_for, self.rng) if failed.again else None
                if wait is None:
                    raise _given_up(failed, failures) from failed
            metrics.LLM_CALLS.labels(account.stage, self.endpoint.model, "retried").inc()
            await self.sleep(wait)

    async def _try(self, question: Question, account: Account) -> Completion:
        asked = Tokens(input=estimate_tokens(question.text))
        async with (
            self.limit.slot() as slot,
            self.ledger.hold(account.battle_id, self.endpoint.model, asked.input),
        ):
            try:
                completion = await self._timed(question, account.stage, slot)
            except CallFailed as failed:
                if failed.charged is not None:
                    await self._book(account, failed.charged, "estimate")
                raise
            except asyncio.CancelledError:
                # Nobody waits for it any more, but the server may have done the work.
                await self._book(account, asked, "estimate")
                raise
            await self._book(account, completion.tokens, completion.source)
            return completion

    async def _timed(self, question: Question, stage: str, slot: Slot) -> Completion:
        started, outcome = time.perf_counter(), "failed"
        try:
            completion = await self.endpoint.complete(question)
            outcome = "ok"
            self.limit.succeeded()
        except CallFailed as failed:
            if failed.overloaded:
                self.limit.overloaded(slot)
            raise
        finally:
            elapsed = time.perf_counter() - started
            metrics.LLM_CONCURRENCY.labels(self.endpoint.model).set(self.limit.value)
            metrics.LLM_SECONDS.labels("chat", self.endpoint.model, stage, outcome).observe(elapsed)
        return completion

    async def _book(self, account: Account, tokens: Tokens, source: Source) -> None:
        entry = await self.ledger.book(account.battle_id, account.stage, self.endpoint.model, tokens, source)
        account.entries.append(entry)


def _given_up(failed: CallFailed, failures: int) -> StageError:
    error = failed.error
    if failures == 1 or not isinstance(error, Unavailable):
        return error
    return Unavailable(error.reason, f"{error.detail} ({failures} attempts)", failed.asked_for)
