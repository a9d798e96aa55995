"""Requests to a reranking endpoint: within the budgets, booked to the battle, and measured."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.pipeline import Stage
from services.runtime import metrics, work
from services.runtime.errors import Unavailable
from services.runtime.llm.accounting import Ledger, Source
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.prices import Tokens

_STAGE = Stage.RETRIEVER.value


@dataclass(frozen=True, slots=True)
class Scored:
    """What a response holds.

    Attributes:
        scores: One per passage.
        tokens: Tokens that the server counted; None where it counted none.
    """

    scores: NDArray[np.float32]
    tokens: int | None


@dataclass(frozen=True, slots=True)
class RerankCalls:
    """Requests to one endpoint.

    Attributes:
        exchange: Requests without accounting.
        model: Name of the model, as prices and metrics have it.
        ledger: Where requests are booked, and the budgets.
    """

    exchange: Exchange
    model: str
    ledger: Ledger

    async def post(
        self, body: Mapping[str, Any], asked: Tokens, read: Callable[[httpx2.Response], Scored]
    ) -> NDArray[np.float32]:
        """The scores of one request, booked to the battle of the current task, or else to the day alone.

        Args:
            body: The request.
            asked: Its tokens, an estimate.
            read: Reads the response, or raises `CallFailed`.

        Raises:
            CallFailed: There is no response, or none that can be used.
            BudgetExceeded: The request does not fit the budget and is not made.
            Unavailable: The database does not answer.
        """
        subject = work.current()
        battle_id = None if subject is None else subject.battle_id
        async with self.ledger.reserve(battle_id, self.model, asked.input):
            started, outcome = time.perf_counter(), "failed"
            try:
                result = read(await self.exchange.post("/rerank", body, lambda: asked))
                tokens = asked if result.tokens is None else Tokens(input=result.tokens)
                self._enter(battle_id, tokens, "estimate" if result.tokens is None else "usage")
                outcome = "ok"
            except CallFailed as failed:
                if failed.charged is not None:
                    self._enter(battle_id, failed.charged, "estimate")
                raise
            except asyncio.CancelledError:  # the server may charge for what nobody waits for any more
                self._enter(battle_id, asked, "estimate")
                raise
            finally:
                elapsed = time.perf_counter() - started
                metrics.LLM_SECONDS.labels("rerank", self.model, _STAGE, outcome).observe(elapsed)
                metrics.LLM_CALLS.labels(_STAGE, self.model, outcome).inc()
                with suppress(Unavailable):  # the ledger keeps the entries for later
                    await self.ledger.flush()
            return result.scores

    def _enter(self, battle_id: str | None, tokens: Tokens, source: Source) -> None:
        self.ledger.enter(battle_id, _STAGE, self.model, tokens, source)

    async def close(self) -> None:
        """Close the connections."""
        await self.exchange.close()
