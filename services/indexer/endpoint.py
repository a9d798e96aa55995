"""`POST /embeddings` of an OpenAI-compatible endpoint: texts in, vectors or a typed failure out."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import httpx2
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from services.runtime.embedding import Vectors, unit
from services.runtime.llm.accounting import Source
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.prices import Tokens, estimate_tokens

_CONTENT = frozenset({400, 413, 422})


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0)


class _Row(BaseModel):
    index: int
    embedding: str | list[float]


class _Reply(BaseModel):
    """What is read of a response; servers without a count of tokens leave `usage` out."""

    data: Annotated[list[_Row], Field(min_length=1)]
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of one call.

    Attributes:
        rows: One vector of length 1 per text, in order; shape (texts, dimensions).
        tokens: Tokens of the call.
        source: "usage" when the server counted the tokens, "estimate" when we did.
    """

    rows: Vectors
    tokens: Tokens
    source: Source


class EmbeddingEndpoint:
    """An embedding model behind a URL.

    Vectors are asked for in base64, which is a quarter of the bytes of decimal numbers, unless the server
    rejects it.

    Args:
        exchange: Requests to the endpoint.
        model: Name of the model to ask for.
    """

    def __init__(self, exchange: Exchange, model: str) -> None:
        self.exchange, self.model = exchange, model
        self._form: Literal["base64", "float"] = "base64"

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The vectors of texts, in one call.

        Raises:
            CallFailed: There are none; the exception holds the error to raise.
        """
        while True:
            form = self._form
            body = {"model": self.model, "input": list(texts), "encoding_format": form}
            try:
                response = await self.exchange.post("/embeddings", body, lambda: _asked(texts))
            except CallFailed as failed:
                about_form = is_about_content(failed) and "encoding_format" in f"{failed.error.admin_detail}"
                if form == "float" or not about_form:
                    raise
                self._form = "float"
                continue
            return self._read(texts, response)

    def _read(self, texts: Sequence[str], response: httpx2.Response) -> Embedded:
        try:
            reply = _Reply.model_validate_json(response.content)
            rows = _rows(reply.data, len(texts))
        except (ValidationError, ValueError) as error:
            problem = f"{response.text[:200]!r} are not {len(texts)} embeddings: {error}"
            raise self.exchange.garbled(_asked(texts), problem) from error
        if reply.usage is None:
            return Embedded(rows, _asked(texts), "estimate")
        return Embedded(rows, Tokens(input=reply.usage.prompt_tokens), "usage")


def is_about_content(failed: CallFailed) -> bool:
    """Whether other texts, or fewer or shorter ones, may succeed."""
    return failed.cause is None and failed.status in _CONTENT


def is_about_length(failed: CallFailed) -> bool:
    """Whether the endpoint rejected a text because it is too long."""
    message = f"{failed.error.admin_detail}".lower()
    return failed.status == 413 or any(
        word in message for word in ("token", "length", "too long", "too large")
    )


def _asked(texts: Sequence[str]) -> Tokens:
    return Tokens(input=sum(map(estimate_tokens, texts)))


def _rows(data: Sequence[_Row], count: int) -> Vectors:
    """The vectors in the order of the texts.

    Raises:
        ValueError: One is missing, is no vector, or has another length than the others.
    """
    by_index = {row.index: _vector(row.embedding) for row in data}
    if len(data) != count or set(by_index) != set(range(count)):
        raise ValueError(f"there are {len(data)} vectors for {count} texts")
    rows = np.stack([by_index[index] for index in range(count)])
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise ValueError("a vector is zero or has values that are not finite")
    return unit(rows)


def _vector(value: str | list[float]) -> NDArray[np.float32]:
    if isinstance(value, str):
        try:
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
        except binascii.Error as error:
            raise ValueError("a vector is not in base64") from error
    decimal: Any = value
    return np.asarray(decimal, dtype=np.float32)
