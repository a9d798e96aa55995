"""`POST /rerank` of an endpoint: a query and passages in, scores or `Unavailable` out.

Two forms of it are in use. Cohere, Jina, vLLM and Infinity take `documents` and answer an object with
`results`; TEI takes `texts` and answers a list.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import httpx2
import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from services.retriever.rerank_calls import RerankCalls, Scored
from services.runtime.errors import Unavailable
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.prices import Tokens, estimate_tokens

_Form = Literal["documents", "texts"]
_CONTENT = frozenset({400, 413, 422})


class _Score(BaseModel):
    index: int = Field(ge=0)
    score: FiniteFloat = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Usage(BaseModel):
    tokens: int = Field(ge=0, validation_alias=AliasChoices("total_tokens", "prompt_tokens"))


class _Counted(BaseModel):
    input_tokens: int = Field(ge=0)


class _Meta(BaseModel):
    tokens: _Counted | None = None


class _Results(BaseModel):
    results: list[_Score]
    usage: _Usage | None = None
    meta: _Meta | None = None

    @property
    def tokens(self) -> int | None:
        """Tokens that the server counted."""
        if self.usage is not None:
            return self.usage.tokens
        return None if self.meta is None or self.meta.tokens is None else self.meta.tokens.input_tokens


_REPLY: TypeAdapter[_Results | list[_Score]] = TypeAdapter(Annotated[_Results | list[_Score], Field()])


class RerankEndpoint:
    """A reranker behind a URL.

    Args:
        calls: Requests to the endpoint.
    """

    def __init__(self, calls: RerankCalls) -> None:
        self._calls = calls
        self._form: _Form | None = None  # None until the endpoint has answered
        self._most: int | None = None  # texts that the endpoint takes in one call; None while it takes all

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._calls.model

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
        await self._calls.close()

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
        scores = await self._calls.post(body, asked, lambda response: self._read(len(texts), response, asked))
        self._form = form
        return scores

    def _read(self, count: int, response: httpx2.Response, asked: Tokens) -> Scored:
        try:
            reply = _REPLY.validate_json(response.content)
        except ValidationError as error:
            raise self._calls.exchange.garbled(asked, f"{response.text[:200]!r}: {error}") from error
        scored = reply if isinstance(reply, list) else reply.results
        by_index = {each.index: each.score for each in scored}
        if len(scored) != count or set(by_index) != set(range(count)):
            raise self._calls.exchange.garbled(asked, f"there are {len(scored)} scores for {count} passages")
        scores = np.asarray([by_index[index] for index in range(count)], dtype=np.float32)
        return Scored(scores, None if isinstance(reply, list) else reply.tokens)


def _as_unavailable(failed: CallFailed) -> Unavailable:
    if isinstance(failed.error, Unavailable):
        return failed.error
    return Unavailable(failed.error.reason, failed.error.detail, admin_detail=failed.error.admin_detail)
