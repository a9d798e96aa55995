"""Model calls: within the budget and the concurrency limit, retried, kept, and booked.

A completion that was paid for is kept in memory before it is booked, until the client has stored its reply.
An attempt that is repeated, because the database was away or the attempt was cancelled, gets it again and
pays nothing.
"""

import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from opentelemetry.trace import Span, SpanKind

from nuggetstream.domain.failure import Reason
from services.runtime import metrics, tracing, work
from services.runtime.errors import ModelOutage, StageError, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, Source
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.call_log import ModelCall, Outcome
from services.runtime.llm.cause import Cause
from services.runtime.llm.dialect import ModelRequest
from services.runtime.llm.endpoint import Completion
from services.runtime.llm.limiter import Slot
from services.runtime.llm.prices import Money, Tokens, estimate_tokens
from services.runtime.llm.retries import RetryPolicy
from services.runtime.llm.routes import Route, Routes
from services.runtime.llm.speed import work_of
from services.runtime.work import Work


@dataclass(slots=True)
class Billing:
    """The stage and the battle that the calls for one prompt are booked to, and what was booked so far.

    Attributes:
        stage: The stage.
        battle_id: The battle.
        subject: What the caller works on, where a message is being handled.
        entries: Booked entries.
        calls: All calls, for the log.
        shared: Whether another process asked the same meanwhile, so that its reply was used.
    """

    stage: str
    battle_id: str
    subject: Work | None = field(default_factory=work.current)
    entries: list[Entry] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    shared: bool = False

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

    def call(
        self, key: str, request: ModelRequest, model: str, outcome: Outcome = Outcome.FAILED
    ) -> ModelCall:
        """A call that begins now, to be completed by the caller; it is not in `calls` yet."""
        return ModelCall(
            battle_id=self.battle_id,
            stage=self.stage,
            evaluator=None if self.subject is None else self.subject.evaluator,
            task=request.task,
            model=model,
            endpoint=None,
            key=key.partition(" ")[0],
            repair=key.endswith(REPAIR),
            attempt=1,
            at=datetime.now(UTC),
            seconds=None,
            outcome=outcome,
            entry=None,
            reply=None,
            detail=None,
            messages=request.messages,
            texts=None if self.subject is None else self.subject.texts,
        )

    def conclude(self, outcome: Outcome, detail: str | None) -> None:
        """Say what became of the last call, once its reply was read."""
        if self.calls:
            last = self.calls[-1]
            last.outcome, last.detail = outcome, detail
            if outcome is Outcome.ANSWERED:
                last.reply = None  # the reply cache has it


REPAIR = " repair"  # ends the key of the second request
_KEPT = 1000  # completions at most; there are more only if that many prompts were abandoned


@dataclass(slots=True)
class Caller:
    """Calls a model, with retries.

    Attributes:
        routes: The endpoints of the model.
        ledger: Where calls are booked, and the budgets.
        retries: How often and how long to retry.
        rng: Source of the jitter between retries.
        sleep: Waits between retries.
        kept: Completions that were paid for and whose replies are not stored yet, by key.
    """

    routes: Routes
    ledger: Ledger
    retries: RetryPolicy
    rng: random.Random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    kept: OrderedDict[str, tuple[Completion, Entry]] = field(default_factory=OrderedDict)

    async def complete(self, key: str, request: ModelRequest, billing: Billing) -> Completion:
        """One completion, after as many attempts as the retry policy allows.

        Args:
            key: Identifies the request; a completion that is kept under it is returned without a call.
            request: What is asked.
            billing: Where the calls are booked.

        Raises:
            ModelOutage: The model is away.
            StageError: The model's answer is an error about the content.
            BudgetExceeded: The next call does not fit the budget.
        """
        if key in self.kept:
            completion, entry = self.kept[key]
            billing.entries.append(entry)
            return completion
        failures = timeouts = 0
        attempt = 1
        route = self.routes.choose()
        while True:
            try:
                return await self._try(key, request, billing, route, attempt)
            except ModelOutage:  # its circuit opened while the call waited for its turn
                if (other := self.routes.instead_of(route)) is None:
                    raise
                route, failures, timeouts = other, 0, 0
                continue
            except CallFailed as failed:
                failures += 1
                timeouts += failed.cause is Cause.TIMEOUT
                later = self.retries.after(failed, failures, timeouts, self.rng)
                wait = None if route.circuit.is_open else later
                other = None if failed.cause is None else self.routes.instead_of(route)
                if other is None and wait is None:
                    if failed.cause is not None:  # the client counts the other failures
                        metrics.LLM_CALLS.labels(billing.stage, route.endpoint.model, "failed").inc()
                    raise _given_up(failed, failures, route) from failed
            attempt += 1
            metrics.LLM_CALLS.labels(billing.stage, route.endpoint.model, "retried").inc()
            if other is not None:
                route, failures, timeouts = other, 0, 0
            else:
                await self.sleep(wait or 0.0)
                route = self.routes.choose()

    def drop(self, *keys: str) -> None:
        """Stop keeping the completions with these keys: their reply is stored, or useless."""
        for key in keys:
            self.kept.pop(key, None)

    async def _try(
        self, key: str, request: ModelRequest, billing: Billing, route: Route, attempt: int
    ) -> Completion:
        asked, model = Tokens(input=estimate_tokens(request.text)), route.endpoint.model
        async with route.limit.slot(billing.battle_id) as slot:
            with route.circuit.call():
                async with self.ledger.reserve(billing.battle_id, model, asked.input):
                    call = billing.call(key, request, model)
                    call.attempt, call.endpoint = attempt, route.endpoint.host
                    billing.calls.append(call)
                    started = time.perf_counter()
                    try:
                        with _span(billing, call) as span:
                            completion = await self._timed(request, billing, route, slot)
                            _describe(span, completion)
                    except CallFailed as failed:
                        call.detail = failed.error.admin_detail or failed.error.detail
                        if failed.error.reason is Reason.CONTENT_FILTERED:
                            call.outcome = Outcome.FILTERED
                        if failed.charged is not None:
                            call.entry = self._entry(billing, model, failed.charged, "estimate")
                        raise
                    except asyncio.CancelledError:
                        call.outcome = Outcome.CANCELLED
                        # The caller is gone, but the server may have done the work. A batch is booked when
                        # its results are read.
                        if not route.endpoint.batched:
                            call.entry = self._entry(billing, model, asked, "estimate")
                        raise
                    else:
                        call.outcome, call.reply = Outcome.ANSWERED, completion.text
                        call.entry = self._keep(key, completion, billing, model)
                    finally:
                        call.seconds = time.perf_counter() - started
                        await self._book()
                    return completion

    async def _timed(self, request: ModelRequest, billing: Billing, route: Route, slot: Slot) -> Completion:
        started, outcome = time.perf_counter(), "failed"
        endpoint, limit = route.endpoint, route.limit
        answers = route.circuit.answers
        try:
            completion = await endpoint.complete(request)
            outcome = "ok"
            limit.succeeded(slot, work_of(completion.tokens))
            self.routes.answered(route)
        except CallFailed as failed:
            if failed.cause is None:
                self.routes.answered(route)
            else:
                route.circuit.failed(failed, answers, billing.battle_id)
            if failed.overloaded:
                limit.overloaded(slot)
            raise
        finally:
            elapsed = time.perf_counter() - started
            metrics.LLM_CONCURRENCY.labels(endpoint.model).set(limit.value)
            metrics.LLM_SECONDS.labels("chat", endpoint.model, billing.stage, outcome).observe(elapsed)
        return completion

    def _entry(self, billing: Billing, model: str, tokens: Tokens, source: Source) -> Entry:
        entry = self.ledger.enter(billing.battle_id, billing.stage, model, tokens, source)
        billing.entries.append(entry)
        return entry

    async def _book(self) -> None:
        """Write the entries to the database; if it is away, the ledger keeps them for later."""
        with suppress(Unavailable):
            await self.ledger.flush()

    def _keep(self, key: str, completion: Completion, billing: Billing, model: str) -> Entry:
        entry = self._entry(billing, model, completion.tokens, completion.source)
        self.kept[key] = (completion, entry)
        if len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        return entry


def _span(billing: Billing, call: ModelCall) -> AbstractContextManager[Span]:
    """The span of a call, by OpenTelemetry's semantic conventions for generative AI."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.model,
        "server.address": call.endpoint,
        "nuggetstream.stage": billing.stage,
        "nuggetstream.attempt": call.attempt,
    }
    return tracing.span(f"chat {call.model}", kind=SpanKind.CLIENT, attributes=attributes)


def _describe(span: Span, completion: Completion) -> None:
    span.set_attribute("gen_ai.response.model", completion.model)
    span.set_attribute("gen_ai.response.finish_reasons", [completion.finish])
    span.set_attribute("gen_ai.usage.input_tokens", completion.tokens.input)
    span.set_attribute("gen_ai.usage.output_tokens", completion.tokens.output)


def _given_up(failed: CallFailed, failures: int, route: Route) -> StageError:
    if failed.cause is None:
        return failed.error
    return route.circuit.outage(failed, f" ({failures} attempts)" if failures > 1 else "")
