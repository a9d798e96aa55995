"""An embedding model behind a URL.

    texts of many callers ──> batches of like length, by tokens ──> calls, as many as the endpoint bears

The first call embeds a text whose vector is stored, so that vectors of another model are never mixed with
those that are stored under its name.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context

import numpy as np

from services.indexer.calls import EmbeddingCalls
from services.indexer.cuts import Cuts
from services.indexer.endpoint import is_about_content, is_about_length
from services.indexer.gathering import BatchLimits, Gathering, Row, Waiting, answer, rows_of
from services.runtime import metrics, work
from services.runtime.embedding import Vectors
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import FirstAway
from services.runtime.llm.prices import estimate_tokens

_SAMPLE = "The tides are caused by the Moon."  # embedded at the start where no vector is stored
_SHORTER, _SHORTEST = 0.7, 200  # factor by which a text that is too long is cut, and fewest characters left
_LIMITS = BatchLimits(texts=32, tokens=8192)  # TEI accepts 32 texts unless it is told otherwise

Reference = Callable[[], Awaitable[tuple[str, Row] | None]]
"""Returns a text with its stored vector, of shape (dimensions,); None where no vector is stored."""


async def _no_reference() -> None:
    return None


class RemoteEmbedder:
    """An `Embedder` over any OpenAI-compatible endpoint.

    Args:
        calls: Calls of the model.
        limits: The largest call; smaller ones follow where the endpoint rejects it.
        reference: Reads a text with its stored vector.

    Attributes:
        model: Name of the model.
        cuts: Which texts it read only in part.
    """

    def __init__(
        self, calls: EmbeddingCalls, limits: BatchLimits = _LIMITS, reference: Reference = _no_reference
    ) -> None:
        self._caller, self._limits, self._reference = calls, limits, reference
        self.model = calls.endpoint.model
        self.cuts = Cuts()
        self._gathering = Gathering()
        self._calls: set[asyncio.Task[None]] = set()
        self._preparing = asyncio.Lock()

    def first_away(self) -> FirstAway | None:
        """Why the endpoint is away; None while it answers."""
        return self._caller.circuit.away()

    async def ready(self) -> None:
        """Return once the model has answered, with the vectors that are stored under its name.

        Raises:
            ModelOutage: It does not answer, or is another model.
            Unavailable: The database does not answer.
        """
        async with self._preparing:
            if self._caller.dimensions is None:
                text, stored = await self._reference() or (_SAMPLE, None)
                try:
                    await self._caller.embed([text], [None], stored)
                except CallFailed as failed:
                    raise failed.error from failed

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions), one row per text, in order.

        Raises:
            ModelOutage: The model is away, or is another than that whose vectors are stored.
            Permanent: The endpoint rejects a text.
            BudgetExceeded: The texts do not fit the budget.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        if self._caller.dimensions is None:
            await self.ready()
        subject = work.current()
        battle_id = None if subject is None else subject.battle_id
        async with self._caller.ledger.reserve(battle_id, self.model, sum(map(estimate_tokens, texts))):
            added = self._gathering.add(texts)
            self._start_calls()
            return await rows_of(added)

    async def close(self) -> None:
        """Cancel calls in flight, and close the connections."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self._caller.endpoint.exchange.close()

    def _start_calls(self) -> None:
        while len(self._calls) < self._caller.limit.value and (batch := self._gathering.take(self._limits)):
            # In a context of its own, because a batch belongs to no single battle.
            call = asyncio.create_task(self._call(batch), context=Context())
            self._calls.add(call)
            call.add_done_callback(self._ended)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            self._start_calls()

    async def _call(self, batch: Sequence[Waiting]) -> None:
        """Give every text of a batch its vector, or the reason why it has none."""
        texts = [text.text for text in batch]
        try:
            embedded = await self._caller.embed(texts, [text.subject for text in batch])
            for text in batch:
                if text.whole is not None:
                    self.cuts.note(text.whole, len(text.text) / len(text.whole))
            answer(batch, embedded.rows)
        except CallFailed as failed:
            await self._divided(batch, failed)
        except asyncio.CancelledError:
            for text in batch:
                text.row.cancel()
            raise
        except Exception as error:
            for text in batch:
                text.fail(error)

    async def _divided(self, batch: Sequence[Waiting], failed: CallFailed) -> None:
        """Embed the halves of a batch that was rejected, and the beginning of a text that is too long."""
        if len(batch) > 1 and is_about_content(failed):
            half = len(batch) // 2
            if "batch" in f"{failed.error.admin_detail}".lower():  # so many texts are too many
                self._limits = BatchLimits(min(self._limits.texts, half), self._limits.tokens)
            await self._call(batch[:half])
            await self._call(batch[half:])
        elif len(batch) == 1 and is_about_content(failed) and is_about_length(failed):
            [text] = batch
            shorter = text.text[: int(_SHORTER * len(text.text))]
            if len(shorter) < _SHORTEST:
                text.fail(failed.error)
                return
            if text.whole is None:
                metrics.EMBEDDING_CUTS.labels(self.model).inc()
            await self._call([text.cut(shorter)])
        else:
            for text in batch:
                text.fail(failed.error)
