"""`POST /rerank` of an endpoint: a query and passages in, scores or `Unavailable` out.

Two forms of it are in use. Cohere, Jina, vLLM and Infinity take `documents` and answer an object with
`results`; TEI takes `texts` and answers a list.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

import httpx2
import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, AliasPath, BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from nuggetstream.domain.pipeline import Stage
from services.runtime import metrics, work
from services.runtime.errors import Unavailable
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.prices import Tokens, estimate_tokens

_Form = Literal["documents", "texts"]
_STAGE = Stage.RETRIEVER.value
_CONTENT = frozenset({400, 413, 422})


class _Score(BaseModel):
    index: int = Field(ge=0)
    score: FiniteFloat = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Usage(BaseModel):
    tokens: int = Field(ge=0, validation_alias=AliasChoices("total_tokens", "prompt_tokens", "input_tokens"))


class _Results(BaseModel):
    results: list[_Score]
    usage: _Usage | None = Field(
        default=None,
        validation_alias=AliasChoices("usage", AliasPath("meta", "tokens")),  # or as Cohere has it
    )


_Read = tuple[NDArray[np.float32], _Usage | None]  # a score per passage; tokens where the server counts them
_REPLY: TypeAdapter[_Results | list[_Score]] = TypeAdapter(Annotated[_Results | list[_Score], Field()])


class RerankEndpoint:
    """A reranker behind a URL.

    Args:
        exchange: Requests without accounting.
        model: Name of the model, as prices and metrics have it.
        ledger: Where requests are booked, and the budgets.
    """

    def __init__(self, exchange: Exchange, model: str, ledger: Ledger) -> None:
        self._exchange, self.model, self._ledger = exchange, model, ledger
        self._form: _Form | None = None  # None until the endpoint has answered
        self._most: int | None = None  # texts that the endpoint takes in one call; None while it takes all

    async def ready(self) -> None:
        """Return at once: a call is what finds out whether the endpoint answers."""

    async def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The relevance of each text.

        Raises:
            Unavailable: The endpoint does not answer, or rejects the call.
            BudgetExceeded: The call does not fit the budget.
        """
        try:
            return np.concatenate(await self._parts(query, texts))
        except CallFailed as failed:
            raise _as_unavailable(failed) from failed

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    async def _parts(self, query: str, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        size, parts = self._most or len(texts), list[NDArray[np.float32]]()
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            try:
                parts.append(await self._call(query, part))
            except CallFailed as failed:
                if len(part) == 1 or failed.status not in _CONTENT:
                    raise
                self._most = len(part) // 2  # it may take fewer in one call
                return [*parts, *await self._parts(query, texts[start:])]
        return parts

    async def _call(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The scores of one call, in the form that the endpoint accepts."""
        try:
            return await self._exchanged(query, texts, self._form or "documents")
        except CallFailed as failed:
            # The response to a request of the other form need not say what is wrong.
            if self._form is not None or failed.status not in _CONTENT:
                raise
            try:
                return await self._exchanged(query, texts, "texts")
            except CallFailed as again:
                raise failed from again

    async def _exchanged(self, query: str, texts: Sequence[str], form: _Form) -> NDArray[np.float32]:
        asked = Tokens(input=sum(map(estimate_tokens, [query, *texts])))
        body: dict[str, Any] = {"model": self.model, "query": query, form: list(texts)}
        body |= {"truncate": True} if form == "texts" else {"top_n": len(texts)}
        scores = await self._post(body, asked, lambda response: self._read(len(texts), response, asked))
        self._form = form
        return scores

    async def _post(
        self, body: Mapping[str, Any], asked: Tokens, read: Callable[[httpx2.Response], _Read]
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
        async with self._ledger.reserve(battle_id, self.model, asked.input):
            enter, started, outcome = self._ledger.enter, time.perf_counter(), "failed"
            try:
                scores, counted = read(await self._exchange.post("/rerank", body, lambda: asked))
                tokens = asked if counted is None else Tokens(input=counted.tokens)
                enter(battle_id, _STAGE, self.model, tokens, "estimate" if counted is None else "usage")
                outcome = "ok"
            except CallFailed as failed:
                if failed.charged is not None:
                    enter(battle_id, _STAGE, self.model, failed.charged, "estimate")
                raise
            except asyncio.CancelledError:  # the server may charge for what nobody waits for any more
                enter(battle_id, _STAGE, self.model, asked, "estimate")
                raise
            finally:
                elapsed = time.perf_counter() - started
                metrics.LLM_SECONDS.labels("rerank", self.model, _STAGE, outcome).observe(elapsed)
                metrics.LLM_CALLS.labels(_STAGE, self.model, outcome).inc()
                with suppress(Unavailable):  # the ledger keeps the entries for later
                    await self._ledger.flush()
            return scores

    def _read(self, count: int, response: httpx2.Response, asked: Tokens) -> _Read:
        try:
            reply = _REPLY.validate_json(response.content)
        except ValidationError as error:
            raise self._exchange.garbled(asked, f"{response.text[:200]!r}: {error}") from error
        scored = reply if isinstance(reply, list) else reply.results
        by_index = {result.index: result.score for result in scored}
        if len(scored) != count or set(by_index) != set(range(count)):
            raise self._exchange.garbled(asked, f"there are {len(scored)} scores for {count} passages")
        scores = np.asarray([by_index[index] for index in range(count)], dtype=np.float32)
        return scores, None if isinstance(reply, list) else reply.usage


def _as_unavailable(failed: CallFailed) -> Unavailable:
    if isinstance(failed.error, Unavailable):
        return failed.error
    return Unavailable(failed.error.reason, failed.error.detail, admin_detail=failed.error.admin_detail)
