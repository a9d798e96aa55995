"""Model calls: within the budget and the concurrency limit, retried, and booked."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from services.runtime import metrics
from services.runtime.errors import StageError, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, Source
from services.runtime.llm.dialect import ModelRequest
from services.runtime.llm.endpoint import CallFailed, Completion, Endpoint
from services.runtime.llm.limiter import AdaptiveLimit, Slot
from services.runtime.llm.prices import Money, Tokens, estimate_tokens
from services.runtime.llm.retries import RetryPolicy


@dataclass(slots=True)
class Billing:
    """The stage and the battle that the calls for one prompt are booked to, and the entries so far."""

    stage: str
    battle_id: str
    entries: list[Entry] = field(default_factory=list)

    @property
    def tokens(self) -> Tokens:
        """Tokens of all calls."""
        return sum((entry.tokens for entry in self.entries), Tokens())

    @property
    def cost(self) -> Money | None:
        """Cost of all calls; None when the cost of any of them is unknown."""
        costs = [entry.cost for entry in self.entries]
        known = [cost for cost in costs if cost is not None]
        return sum(known[1:], known[0]) if known and len(known) == len(costs) else None


@dataclass(slots=True)
class Caller:
    """Calls one endpoint, with retries.

    Attributes:
        endpoint: The model.
        ledger: Where calls are booked, and the budgets.
        limit: Calls that may run at once.
        retries: How often and how long to retry.
        rng: Source of the jitter between retries.
        sleep: Waits between retries.
    """

    endpoint: Endpoint
    ledger: Ledger
    limit: AdaptiveLimit
    retries: RetryPolicy
    rng: random.Random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def complete(self, request: ModelRequest, billing: Billing) -> Completion:
        """One completion, after as many attempts as the retry policy allows.

        Raises:
            StageError: The last attempt failed, or the failure is not worth a retry.
            BudgetExceeded: The next call does not fit the budget.
        """
        failures = 0
        while True:
            try:
                return await self._try(request, billing)
            except CallFailed as failed:
                failures += 1
                wait = self.retries.wait(failures, failed.retry_after, self.rng) if failed.retryable else None
                if wait is None:
                    raise _given_up(failed, failures) from failed
            metrics.LLM_CALLS.labels(billing.stage, self.endpoint.model, "retried").inc()
            await self.sleep(wait)

    async def _try(self, request: ModelRequest, billing: Billing) -> Completion:
        asked = Tokens(input=estimate_tokens(request.text))
        async with (
            self.limit.slot() as slot,
            self.ledger.reserve(billing.battle_id, self.endpoint.model, asked.input),
        ):
            try:
                completion = await self._timed(request, billing.stage, slot)
            except CallFailed as failed:
                if failed.charged is not None:
                    await self._book(billing, failed.charged, "estimate")
                raise
            except asyncio.CancelledError:
                # The caller is gone, but the server may have done the work.
                await self._book(billing, asked, "estimate")
                raise
            await self._book(billing, completion.tokens, completion.source)
            return completion

    async def _timed(self, request: ModelRequest, stage: str, slot: Slot) -> Completion:
        started, outcome = time.perf_counter(), "failed"
        try:
            completion = await self.endpoint.complete(request)
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

    async def _book(self, billing: Billing, tokens: Tokens, source: Source) -> None:
        entry = await self.ledger.book(billing.battle_id, billing.stage, self.endpoint.model, tokens, source)
        billing.entries.append(entry)


def _given_up(failed: CallFailed, failures: int) -> StageError:
    error = failed.error
    if failures == 1 or not isinstance(error, Unavailable):
        return error
    return Unavailable(error.reason, f"{error.detail} ({failures} attempts)", failed.retry_after)
