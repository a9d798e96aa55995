"""Calls of an embedding model behind a URL: within the concurrency limit, retried, booked and measured."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage as StageName
from services.indexer.endpoint import Embedded, EmbeddingEndpoint
from services.indexer.gathering import Row
from services.runtime import metrics, work
from services.runtime.errors import Unavailable
from services.runtime.llm.accounting import Ledger, Source
from services.runtime.llm.attempts import Failures, attempt
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import Cause
from services.runtime.llm.circuit import Circuit
from services.runtime.llm.limiter import AdaptiveLimit, Slot
from services.runtime.llm.prices import Tokens, estimate_tokens
from services.runtime.llm.retries import RetryPolicy
from services.runtime.work import Work

_STAGE = StageName.INDEXER.value
_SAME_MODEL = 0.98  # cosine of two vectors of one text by one model, in whatever precision it computes


@dataclass(slots=True, kw_only=True)
class EmbeddingCalls:
    """Calls of one model.

    Attributes:
        endpoint: The model.
        circuit: Whether it answers.
        ledger: Where calls are booked, and the budgets.
        limit: Calls that may run at once.
        retries: How often and how long to retry.
        rng: Source of the jitter between retries.
        sleep: Waits between retries.
        dimensions: Dimensions that vectors must have; None until a call has succeeded.
    """

    endpoint: EmbeddingEndpoint
    circuit: Circuit
    ledger: Ledger
    limit: AdaptiveLimit
    retries: RetryPolicy
    rng: random.Random = field(default_factory=random.Random)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dimensions: int | None = None

    async def embed(
        self,
        texts: Sequence[str],
        subjects: Sequence[Work | None],
        stored: Row | None = None,
    ) -> Embedded:
        """The vectors of one call, after as many attempts as the retry policy allows.

        Args:
            texts: The texts.
            subjects: What each is embedded for; None where that is unknown.
            stored: The stored vector of the first text, which the model must give again.

        Raises:
            CallFailed: The endpoint's answer is an error about the texts.
            ModelOutage: It did not answer, or is another model.
        """
        failures = Failures(self.retries, self.rng)
        while True:
            try:
                async with self.limit.slot() as slot:
                    with self.circuit.call():
                        return await self._exchange(texts, subjects, stored, slot)
            except CallFailed as failed:
                if failed.cause is None:
                    metrics.LLM_CALLS.labels(_STAGE, self.endpoint.model, "failed").inc()
                    raise
                later = failures.wait(failed)
                wait = None if self.circuit.is_open else later
                if wait is None:
                    metrics.LLM_CALLS.labels(_STAGE, self.endpoint.model, "failed").inc()
                    raise failures.outage(self.circuit, failed) from failed
            metrics.LLM_CALLS.labels(_STAGE, self.endpoint.model, "retried").inc()
            await self.sleep(wait)

    async def _exchange(
        self,
        texts: Sequence[str],
        subjects: Sequence[Work | None],
        stored: Row | None,
        slot: Slot,
    ) -> Embedded:
        try:
            with attempt(self.circuit, self.limit, slot, operation="embeddings", stage=_STAGE) as succeeded:
                embedded = await self.endpoint.embed(texts)
                self._book(texts, subjects, embedded.tokens, embedded.source)
                self._require_same_model(embedded.rows[0], stored)
                self.dimensions = embedded.rows.shape[1]
                succeeded(embedded.tokens.input)
        except CallFailed as failed:
            if failed.charged is not None:
                self._book(texts, subjects, failed.charged, "estimate")
            raise
        finally:
            with suppress(Unavailable):  # the ledger keeps the entries for later
                await self.ledger.flush()
        metrics.LLM_CALLS.labels(_STAGE, self.endpoint.model, "ok").inc()
        return embedded

    def _book(
        self, texts: Sequence[str], subjects: Sequence[Work | None], tokens: Tokens, source: Source
    ) -> None:
        """Book a call to the battles whose texts it had, by their lengths."""
        for subject, share in shares(texts, subjects, tokens.input).items():
            with work.delivery():
                if subject is not None:
                    work.begin(subject)
                battle_id = None if subject is None else subject.battle_id
                self.ledger.enter(battle_id, _STAGE, self.endpoint.model, Tokens(input=share), source)

    def _require_same_model(self, row: Row, stored: Row | None) -> None:
        """Check a vector.

        Raises:
            CallFailed: It is by another model than the stored vector, or than earlier ones.
        """
        expected = self.dimensions if stored is None else len(stored)
        if expected is not None and len(row) != expected:
            raise _another_model(self.endpoint.model, f"they have {len(row)} dimensions, not {expected}")
        if stored is not None and (cosine := float(stored @ row)) < _SAME_MODEL:
            problem = f"that of a stored text has a cosine of {cosine:.2f} to the stored one"
            raise _another_model(self.endpoint.model, problem)


def _another_model(model: str, finding: str) -> CallFailed:
    detail = (
        f"the endpoint's vectors are not those that are stored for {model}: {finding}; "
        "check NUGGETSTREAM_EMBEDDING_MODEL and NUGGETSTREAM_EMBEDDING_URL"
    )
    return CallFailed(Unavailable(Reason.LLM_UNAVAILABLE, detail), cause=Cause.MODEL)


def shares(texts: Sequence[str], subjects: Sequence[Work | None], tokens: int) -> dict[Work | None, int]:
    """The tokens of a call by what its texts were embedded for, in proportion to their estimated lengths.

    The shares are whole numbers that add up to `tokens`.

    >>> ada, bob = Work("ada", "arena"), Work("bob", "arena")
    >>> [share for share in shares(["four", "four", "eight by"], [ada, bob, ada], 10).values()]
    [7, 3]
    """
    lengths: dict[Work | None, int] = {}
    for text, subject in zip(texts, subjects, strict=True):
        lengths[subject] = lengths.get(subject, 0) + estimate_tokens(text)
    total, before, result = max(sum(lengths.values()), 1), 0, {}
    for subject, length in lengths.items():
        result[subject] = tokens * (before + length) // total - tokens * before // total
        before += length
    return result
