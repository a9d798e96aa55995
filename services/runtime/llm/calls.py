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
from services.runtime.errors import ModelOutage, Unavailable
from services.runtime.llm.accounting import Entry, Ledger, Source
from services.runtime.llm.attempts import Failures, attempt
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.call_log import ModelCall, Outcome
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
        priced = [cost for cost in costs if cost is not None]
        return sum(priced[1:], priced[0]) if priced and len(priced) == len(costs) else None

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
        attempts = 1
        failures, route = Failures(self.retries, self.rng), self.routes.choose()
        while True:
            try:
                return await self._try(key, request, billing, route, attempts)
            except ModelOutage:  # its circuit opened while the call waited for its turn
                if (other := self.routes.instead_of(route)) is None:
                    raise
                failures, route = Failures(self.retries, self.rng), other
                continue
            except CallFailed as failed:
                later = failures.wait(failed)
                wait = None if route.circuit.is_open else later
                other = None if failed.cause is None else self.routes.instead_of(route)
                if other is None and wait is None:
                    if failed.cause is None:  # the client counts it
                        raise failed.error from failed
                    metrics.LLM_CALLS.labels(billing.stage, route.endpoint.model, "failed").inc()
                    raise failures.outage(route.circuit, failed) from failed
            attempts += 1
            metrics.LLM_CALLS.labels(billing.stage, route.endpoint.model, "retried").inc()
            if other is not None:
                failures, route = Failures(self.retries, self.rng), other
            else:
                await self.sleep(wait or 0.0)
                route = self.routes.choose()

    def drop(self, *keys: str) -> None:
        """Stop keeping the completions with these keys: their reply is stored, or useless."""
        for key in keys:
            self.kept.pop(key, None)

    async def _try(
        self, key: str, request: ModelRequest, billing: Billing, route: Route, attempts: int
    ) -> Completion:
        asked, model = Tokens(input=estimate_tokens(request.text)), route.endpoint.model
        async with route.limit.slot(billing.battle_id) as slot:
            with route.circuit.call():
                async with self.ledger.reserve(billing.battle_id, model, asked.input):
                    call = billing.call(key, request, model)
                    call.attempt, call.endpoint = attempts, route.endpoint.host
                    billing.calls.append(call)
                    started = time.perf_counter()
                    try:
                        completion = await _answered(request, billing, call, route, slot)
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
                        with suppress(Unavailable):  # the ledger keeps the entries for later
                            await self.ledger.flush()
                    return completion

    def _entry(self, billing: Billing, model: str, tokens: Tokens, source: Source) -> Entry:
        entry = self.ledger.enter(billing.battle_id, billing.stage, model, tokens, source)
        billing.entries.append(entry)
        return entry

    def _keep(self, key: str, completion: Completion, billing: Billing, model: str) -> Entry:
        entry = self._entry(billing, model, completion.tokens, completion.source)
        self.kept[key] = (completion, entry)
        if len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        return entry


async def _answered(
    request: ModelRequest, billing: Billing, call: ModelCall, route: Route, slot: Slot
) -> Completion:
    circuit, limit = route.circuit, route.limit
    measured = attempt(
        circuit, limit, slot, operation="chat", stage=billing.stage, battle_id=billing.battle_id
    )
    with _span(billing, call) as span, measured as succeeded:
        completion = await route.endpoint.complete(request)
        succeeded(work_of(completion.tokens))
        _describe(span, completion)
    return completion


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
