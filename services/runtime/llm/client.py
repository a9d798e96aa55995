"""The one way to ask a model.

    ask ──> overrides ──> one flight per key ──> cache ──> at most two exchanges ──> cache ──> Reply

An exchange whose reply cannot be used is followed by one that says why, and by no third.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, Protocol

from pydantic import BaseModel, ValidationError

from nuggetstream.domain.failure import Reason
from services.runtime import metrics
from services.runtime.errors import Permanent, Retryable, StageError
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.cache import MemoryReplyCache, ReplyCache
from services.runtime.llm.calls import Account, Caller
from services.runtime.llm.dialect import Question
from services.runtime.llm.endpoint import Completion, Endpoint
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.parsing import Unusable, read_reply
from services.runtime.llm.patience import Patience
from services.runtime.llm.prices import Money
from services.runtime.llm.prompt import Prompt, PromptOverrides, R, repair_messages, schema_of
from services.runtime.shared_cache import Retention, SharedCache

_LARGER = 2  # times the tokens of a reply that was cut off


@dataclass(frozen=True, slots=True)
class Usage:
    """What one ask took, discarded replies included.

    Attributes:
        input_tokens, output_tokens: of the calls made, or of those that once made a cached reply.
        cached: whether this ask made no call of its own.
        cost: of this ask: zero when cached, None when the model has no price.
    """

    input_tokens: int
    output_tokens: int
    cached: bool
    cost: Money | None


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """A usable answer.

    Attributes:
        value: validated, and passed by the prompt's check.
        model: as the server names it.
        prompt_version: as asked, an operator's override included.
        usage: what it took.
    """

    value: R
    model: str
    prompt_version: str
    usage: Usage


class ChatModel(Protocol):
    """A model that answers prompts."""

    @property
    def name(self) -> str:
        """The model asked for; part of every id derived from its replies."""

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        """One usable reply.

        Raises:
            Unavailable: the endpoint does not answer.
            Retryable: it answers, but twice not the question (`reply_unusable`).
            Permanent: it refuses, its filter objects, or the prompt is too long for it.
            BudgetExceeded: before any call that would pass a budget.
        """


class LLMClient:
    """A `ChatModel` over any OpenAI-compatible endpoint.

    Args:
        endpoint: the model.
        cache: of replies; shared between processes where there are several.
        ledger: bill and budgets.
        limit: calls at once.
        patience: with an endpoint that does not answer.
        overrides: an operator's prompts.
        rng, sleep: of the retries; fakes in tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ReplyCache | None = None,
        ledger: Ledger | None = None,
        *,
        limit: AdaptiveLimit | None = None,
        patience: Patience | None = None,
        overrides: PromptOverrides | None = None,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.ledger = ledger or Ledger()
        self.limit = limit or AdaptiveLimit(maximum=32)
        self.overrides = overrides or PromptOverrides.none()
        self._cache = cache or MemoryReplyCache()
        rng = rng or random.Random()  # noqa: S311 - spreads retries, hides nothing
        self._calls = Caller(endpoint, self.ledger, self.limit, patience or Patience(), rng, sleep)
        # Identical prompts share one call while it is under way; a call that nobody waits for any more would
        # only cost money. What is kept for later is the reply cache's business.
        self._calls_under_way: SharedCache[str, Reply[Any]] = SharedCache(
            Retention(entries=0), cancel_abandoned=True
        )
        self._unkept: dict[str, str] = {}  # replies paid for that the cache did not take

    @property
    def name(self) -> str:
        """The model asked for."""
        return self.endpoint.model

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        """One usable reply; see `ChatModel.ask`."""
        prompt = self.overrides.apply(prompt)
        key, account = prompt.cache_key(self.name), Account(stage, battle_id)
        ours = False  # whether this caller's call was made, or another caller's joined

        async def ask_once() -> Reply[R]:
            nonlocal ours
            ours = True
            return await self._kept_or_asked(key, prompt, account)

        reply: Reply[R] = await self._calls_under_way.get(key, ask_once)
        if not ours:
            reply = replace(reply, usage=self._free(reply.usage.input_tokens, reply.usage.output_tokens))
        if reply.usage.cached:
            metrics.LLM_CALLS.labels(stage, self.name, "cached").inc()
        return reply

    async def close(self) -> None:
        """Closes the connections."""
        await self.endpoint.close()

    async def _kept_or_asked(self, key: str, prompt: Prompt[R], account: Account) -> Reply[R]:
        if key in self._unkept:
            await self._keep(key)
        kept = await self._cache.get(key)
        revived = None if kept is None else self._revive(kept, prompt)
        if revived is not None:
            return revived
        reply = await self._counted(prompt, account)
        self._unkept[key] = _Kept.of(reply).model_dump_json()
        await self._keep(key)
        return reply

    async def _keep(self, key: str) -> None:
        await self._cache.put(key, self._unkept[key])
        del self._unkept[key]

    async def _counted(self, prompt: Prompt[R], account: Account) -> Reply[R]:
        try:
            value, model = await self._answer(prompt, account)
        except StageError:
            metrics.LLM_CALLS.labels(account.stage, self.name, "failed").inc()
            raise
        metrics.LLM_CALLS.labels(account.stage, self.name, "ok").inc()
        tokens = account.tokens
        return Reply(value, model, prompt.version, Usage(tokens.input, tokens.output, False, account.cost))

    async def _answer(self, prompt: Prompt[R], account: Account) -> tuple[R, str]:
        """Asks, and once more when the first reply cannot be used."""
        question = Question(
            prompt.messages(), prompt.task, schema_of(prompt.reply), prompt.max_tokens, prompt.temperature
        )
        try:
            return await self._exchange(question, prompt, account)
        except _Discarded as first:
            second = first.follow_up(question, prompt)
        try:
            return await self._exchange(second, prompt, account)
        except _Discarded as again:
            raise Retryable(Reason.REPLY_UNUSABLE, f"{self.name} failed twice to answer: {again}") from again

    async def _exchange(self, question: Question, prompt: Prompt[R], account: Account) -> tuple[R, str]:
        """One completion, read."""
        completion = await self._calls.complete(question, account)
        if completion.finish == "content_filter":
            raise Permanent(Reason.CONTENT_FILTERED, f"{self.name} stopped at its content filter")
        if completion.refusal:
            raise Permanent(Reason.LLM_REFUSED, f"{self.name} declined: {completion.refusal[:200]}")
        if completion.finish == "length":
            raise _Discarded(completion, f"the reply was cut off at {question.max_tokens} tokens")
        try:
            return read_reply(completion.text, prompt), completion.model
        except Unusable as problem:
            raise _Discarded(completion, str(problem)) from problem

    def _revive(self, kept: str, prompt: Prompt[R]) -> Reply[R] | None:
        """A kept reply, if it still reads; a reply that an older release kept may not."""
        try:
            found = _Kept.model_validate_json(kept)
            value = read_reply(found.reply, prompt)
        except (ValidationError, Unusable):
            return None
        return Reply(value, found.model, prompt.version, self._free(found.input_tokens, found.output_tokens))

    def _free(self, input_tokens: int, output_tokens: int) -> Usage:
        return Usage(input_tokens, output_tokens, True, Money(Decimal(0), self.ledger.prices.currency))


class _Kept(BaseModel):
    """A reply in the cache. The reply itself is kept as JSON text and read as strictly as a fresh one."""

    reply: str
    model: str
    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, reply: Reply[Any]) -> "_Kept":
        usage = reply.usage
        return cls(
            reply=reply.value.model_dump_json(), model=reply.model,
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        )  # fmt: skip


class _Discarded(Exception):
    """A reply that was paid for and cannot be used."""

    def __init__(self, completion: Completion, problem: str) -> None:
        super().__init__(problem)
        self.completion = completion

    def follow_up(self, question: Question, prompt: Prompt[Any]) -> Question:
        """The second question: with more room after a cut, with the problem named after anything else."""
        if self.completion.finish == "length":
            return replace(question, max_tokens=question.max_tokens * _LARGER)
        repair = repair_messages(question.messages, self.completion.text, str(self), prompt.reply)
        return replace(question, messages=repair)
