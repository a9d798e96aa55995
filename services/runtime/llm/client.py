"""The client that every service uses to ask a model.

    ask ──> overrides ──> one flight per key ──> cache ──> claim ──> at most two exchanges ──> cache ──> Reply

When the first reply cannot be used, the second exchange tells the model why. There is no third.

A completion is kept in memory as soon as it arrives, until its reply is in the cache. While the database is
away `ask` raises its outage, and the next `ask` continues with what is kept: nothing is paid for twice.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ValidationError

from nuggetstream.domain.failure import Reason
from services.runtime import deadline, metrics
from services.runtime.claims import Claims
from services.runtime.errors import Outage, Permanent, Retryable, StageError
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.cache import MemoryReplyCache, ReplyCache
from services.runtime.llm.call_log import CallLog, Outcome
from services.runtime.llm.calls import REPAIR, Billing, Caller
from services.runtime.llm.cause import FirstAway
from services.runtime.llm.circuit import PATIENCE_S, Circuit, Role
from services.runtime.llm.completing import Discarded, Partial, UnusableReplies, before_repetition
from services.runtime.llm.dialect import ModelRequest
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.fitting import Fitting
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.model import Reply, Usage
from services.runtime.llm.parsing import Unusable, read_completion, read_reply
from services.runtime.llm.prices import Money
from services.runtime.llm.prompt import Prompt, PromptOverrides, R
from services.runtime.llm.retries import RetryPolicy
from services.runtime.llm.routes import Route, Routes
from services.runtime.llm.stage_models import StageModel
from services.runtime.shared_cache import Retention, SharedCache


class LLMClient:
    """A `ChatModel` over any OpenAI-compatible endpoint.

    Args:
        endpoint: The model.
        cache: Cache of replies; several processes share one.
        ledger: Where calls are booked, and the budgets.
        limit: Calls that may run at once.
        retries: How often and how long to retry an endpoint that does not answer.
        patience: Seconds that a message may wait for a model that is away; hours by default.
        overrides: The operator's prompts.
        claims: Claims on prompts, where other processes ask the same model.
        log: Log of the calls; none by default.
        options: Parameters of all calls, in place of those of the prompts.
        fallback: Endpoint that is asked while the first is away; none by default.
        rng: Source of the jitter between retries.
        sleep: Waits between retries.

    Attributes:
        name: Name of the configured model, with the options that change its replies.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ReplyCache | None = None,
        ledger: Ledger | None = None,
        *,
        limit: AdaptiveLimit | None = None,
        retries: RetryPolicy | None = None,
        patience: float = PATIENCE_S,
        overrides: PromptOverrides | None = None,
        claims: Claims | None = None,
        log: CallLog | None = None,
        options: StageModel | None = None,
        fallback: Endpoint | None = None,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.ledger = ledger or Ledger()
        self.limit = limit or AdaptiveLimit(maximum=32)
        self.overrides = overrides or PromptOverrides()
        self._cache = cache or MemoryReplyCache()
        self._claims = claims or Claims()
        self._log = log or CallLog()
        self._options = options or StageModel()
        self.name = self._options.named(endpoint.model)
        self._fitting, self._unusable = Fitting(), UnusableReplies()
        retries = retries or RetryPolicy()

        def circuit(to: Endpoint, role: Role, instead: Circuit | None = None) -> Circuit:
            failures = 2 * retries.attempts
            return Circuit(to.model, failures, patience, endpoint=to.host, role=role, instead=instead)

        if fallback is None:
            self.circuit = circuit(endpoint, "only")
            routes = [Route(endpoint, self.circuit, self.limit)]
        else:
            second = Route(fallback, circuit(fallback, "fallback"), AdaptiveLimit(self.limit.maximum))
            self.circuit = circuit(endpoint, "first", second.circuit)
            routes = [Route(endpoint, self.circuit, self.limit), second]
        self._routes = Routes(routes)
        rng = rng or random.Random()  # noqa: S311 - jitter of retries, not a secret
        self._calls = Caller(routes=self._routes, ledger=self.ledger, retries=retries, rng=rng, sleep=sleep)
        # Identical prompts share one call in flight; a call that no caller waits for any more would only cost
        # money. Replies are stored by the reply cache, not here.
        self._calls_in_flight: SharedCache[str, Reply[Any]] = SharedCache(
            Retention(entries=0), cancel_abandoned=True
        )

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        """Ask for one usable reply; see `ChatModel.ask`."""
        prompt = self.overrides.apply(prompt)
        with deadline.held():  # waiting for the model, or for its turn, is no sign that the attempt hangs
            return await self._fitting.asked(
                prompt,
                lambda shown: self._ask(shown, Billing(stage=stage, battle_id=battle_id)),
                lambda: self.endpoint.dialect.context,
            )

    async def kept(self, prompt: Prompt[R], *, battle_id: str) -> Reply[R] | None:
        """The stored reply to a prompt, for which no call is made; None where there is none."""
        prompt = self.overrides.apply(prompt)
        return await self._cached(prompt.cache_key(self.name), prompt, battle_id)

    async def _ask(self, prompt: Prompt[R], billing: Billing) -> Reply[R]:
        key, stage, battle_id = prompt.cache_key(self.name), billing.stage, billing.battle_id
        ours = False  # whether this caller made the call, or joined another caller's

        async def ask_once() -> Reply[R]:
            nonlocal ours
            ours = True
            try:
                return await self._cached_or_asked(key, prompt, billing)
            finally:
                self._log.add(billing.calls)

        reply: Reply[R] = await self._calls_in_flight.get(key, ask_once)
        if not ours:
            await self._cache.get(key, battle_id)  # the reply is deleted with the last battle that uses it
            reply = replace(reply, usage=self._free(reply.usage.input_tokens, reply.usage.output_tokens))
        if reply.usage.cached:
            metrics.LLM_CALLS.labels(stage, self.endpoint.model, "cached").inc()
            if self._log.is_on:  # a reply that needed no call
                outcome = Outcome.SHARED if billing.shared or not ours else Outcome.CACHED
                request, model = ModelRequest.of(prompt), self.endpoint.model
                self._log.add([billing.call(key, request, model, outcome)])
        return reply

    async def close(self) -> None:
        """Write the log, and close the connections."""
        await self._log.close()
        await self._routes.close()

    def first_away(self) -> FirstAway | None:
        """Why the first endpoint is away, also where a fallback answers; None while it answers."""
        return self._routes.first_away()

    async def _cached_or_asked(self, key: str, prompt: Prompt[R], billing: Billing) -> Reply[R]:
        await self.ledger.flush()
        if (cached := await self._cached(key, prompt, billing.battle_id)) is not None:
            return cached
        async with self._claims.held(key) as shared:
            if shared and (cached := await self._cached(key, prompt, billing.battle_id)) is not None:
                billing.shared = True
                return cached
            reply = await self._asked(key, prompt, billing)
            await self._cache.put(key, _CachedReply.of(reply).model_dump_json(), billing.battle_id)
            self._calls.drop(key, _repair(key))
        await self.ledger.flush()
        return reply

    async def _cached(self, key: str, prompt: Prompt[R], battle_id: str) -> Reply[R] | None:
        """The stored reply; None when there is none, or an older one that no longer parses."""
        if (text := await self._cache.get(key, battle_id)) is None:
            return None
        try:
            cached = _CachedReply.model_validate_json(text)
            value = read_reply(cached.reply, prompt)
        except (ValidationError, Unusable):
            return None
        usage = self._free(cached.input_tokens, cached.output_tokens)
        return Reply(value, cached.model, prompt.version, usage)

    async def _asked(self, key: str, prompt: Prompt[R], billing: Billing) -> Reply[R]:
        try:
            value, model = await self._answer(key, prompt, billing)
        except Outage:  # continued from what is kept; failed calls are counted where they are made
            raise
        except StageError:
            self._calls.drop(key, _repair(key))
            metrics.LLM_CALLS.labels(billing.stage, self.endpoint.model, "failed").inc()
            raise
        metrics.LLM_CALLS.labels(billing.stage, self.endpoint.model, "ok").inc()
        tokens = billing.tokens
        return Reply(value, model, prompt.version, Usage(tokens.input, tokens.output, False, billing.cost))

    async def _answer(self, key: str, prompt: Prompt[R], billing: Billing) -> tuple[R, str]:
        """Ask, and ask once more when the first reply cannot be used."""
        request = self._options.apply(ModelRequest.of(prompt))
        try:
            return await self._exchange(key, request, prompt, billing)
        except Discarded as error:
            self._unusable.check(key, error)
            first, partial = error, Partial.of(prompt, error.completion)
            second = first.follow_up(request, prompt, partial)
        try:
            return await self._exchange(_repair(key), second, prompt, billing, partial)
        except Discarded as again:
            self._unusable.add(key, first)
            detail = f"two replies of {self.name} in a row could not be used"
            # Two more would take two more batches.
            kind = Permanent if self.endpoint.batched else Retryable
            raise kind(Reason.REPLY_UNUSABLE, detail, admin_detail=str(again)) from again

    async def _exchange(
        self,
        key: str,
        request: ModelRequest,
        prompt: Prompt[R],
        billing: Billing,
        partial: Partial[R] | None = None,
    ) -> tuple[R, str]:
        """One completion and the value in its reply, with what was kept of an earlier one."""
        completion = await self._calls.complete(key, request, billing)
        if completion.finish == "content_filter":
            billing.conclude(Outcome.FILTERED, None)
            raise Permanent(Reason.CONTENT_FILTERED, f"{self.name} stopped at its content filter")
        if completion.refusal:
            billing.conclude(Outcome.REFUSED, completion.refusal)
            raise Permanent(Reason.LLM_REFUSED, f"{self.name} declined", admin_detail=completion.refusal)
        if completion.finish == "length":
            detail = f"the reply was cut off at {request.max_tokens} tokens"
            billing.conclude(Outcome.UNUSABLE, detail)
            raise Discarded(completion, detail)
        if completion.finish == "repetition":
            if (listed := before_repetition(prompt, completion)) is not None:
                billing.conclude(Outcome.ANSWERED, None)
                return listed, completion.model
            detail = "it repeats itself; write everything once"
            billing.conclude(Outcome.UNUSABLE, detail)
            raise Discarded(completion, detail)
        try:
            value = read_completion(completion, prompt) if partial is None else partial.completed(completion)
        except Unusable as problem:
            billing.conclude(Outcome.UNUSABLE, str(problem))
            raise Discarded(completion, str(problem)) from problem
        billing.conclude(Outcome.ANSWERED, None)
        return value, completion.model

    def _free(self, input_tokens: int, output_tokens: int) -> Usage:
        return Usage(input_tokens, output_tokens, True, Money(Decimal(0), self.ledger.prices.currency))


def _repair(key: str) -> str:
    """The key under which the completion of the second exchange is kept."""
    return f"{key}{REPAIR}"


class _CachedReply(BaseModel):
    """A reply in the cache. The reply itself is stored as JSON text and parsed as strictly as a new one.

    Its lines are stored as lines, or as objects where a line could not hold them (`Line`), so that what was
    usable once is always read back.
    """

    reply: str
    model: str
    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, reply: Reply[Any]) -> "_CachedReply":
        usage = reply.usage
        return cls(
            reply=reply.value.model_dump_json(), model=reply.model,
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        )  # fmt: skip
