"""The OpenAI-compatible application: chat completions, embeddings, models.

    POST /v1/chat/completions    POST /v1/embeddings    GET /v1/models

Tokens in `usage` are estimated, one per four bytes of UTF-8, since no tokenizer is involved.
"""

import asyncio
import base64
import re
import time
from collections.abc import AsyncIterator
from typing import Any, Literal

import anyio
import anyio.to_thread
import numpy as np
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nuggetstream.domain.identity import derived_id
from services.offline.answers import Asked, Unanswerable, answer
from services.offline.faults import Fate, Fates, Fault, Faults
from services.offline.heuristics import Embed
from services.runtime.llm.prices import OFFLINE_MODEL, estimate_tokens

OFFLINE_EMBEDDING = "offline-embedding"
_TASK_LINE = re.compile(r"^task: ([a-z_]+)$", re.MULTILINE)
_THREADS = 2  # heuristics run outside the event loop, few at a time


class ChatMessage(BaseModel):
    """One turn of the conversation."""

    role: str
    content: str


class ChatRequest(BaseModel):
    """What we read of a chat completion request; the rest is ignored."""

    messages: list[ChatMessage]
    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool = False

    @property
    def task(self) -> str:
        """Which question it is: the schema's name, else the marker line of the system text."""
        schema = (self.response_format or {}).get("json_schema") or {}
        if name := schema.get("name"):
            return str(name)
        marked = _TASK_LINE.search(self.said_by("system"))
        return marked[1] if marked else ""

    @property
    def limit(self) -> int | None:
        """The longest reply, in tokens."""
        return self.max_completion_tokens or self.max_tokens

    def said_by(self, role: str) -> str:
        """The first message of a role; a repair request repeats the role, never the material."""
        return next((message.content for message in self.messages if message.role == role), "")


class EmbeddingRequest(BaseModel):
    """What we read of an embeddings request."""

    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"

    @property
    def texts(self) -> list[str]:
        """What to embed, in order."""
        return [self.input] if isinstance(self.input, str) else self.input


class OfflineServer:
    """The handlers, and what they share.

    Args:
        embed: sentence embeddings for the heuristics and the embeddings endpoint, or None for neither.
        faults: how to misbehave.
    """

    def __init__(self, embed: Embed | None, faults: Faults) -> None:
        self._embed, self._faults = embed, faults
        self._fates = Fates(faults)
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def models(self, _: Request) -> Response:
        """Names what is served here."""
        names = [OFFLINE_MODEL] if self._embed is None else [OFFLINE_MODEL, OFFLINE_EMBEDDING]
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "nuggetstream"} for name in names]
        return JSONResponse({"object": "list", "data": listed})

    async def chat(self, request: Request) -> Response:
        """Answers one of our prompts."""
        body = await request.body()
        fate = self._fates.draw(body)
        if (trouble := await self._trouble(fate)) is not None:
            return trouble
        try:
            asked = ChatRequest.model_validate_json(body)
        except ValidationError as error:
            return _error(400, f"not a chat completion request: {error}")
        if asked.stream:
            return _error(400, "streaming is not supported", param="stream")
        if asked.response_format and not self._faults.structured_outputs:
            return _error(400, "response_format is not supported by this model", param="response_format")
        return await self._reply(asked, fate, body)

    async def embeddings(self, request: Request) -> Response:
        """Embeds texts, where there is something to embed with."""
        body = await request.body()
        if (trouble := await self._trouble(self._fates.draw(body))) is not None:
            return trouble
        if self._embed is None:
            return _error(404, "this server was started without embeddings", code="model_not_found")
        try:
            asked = EmbeddingRequest.model_validate_json(body)
        except ValidationError as error:
            return _error(400, f"not an embeddings request: {error}")
        rows = await anyio.to_thread.run_sync(self._embed, asked.texts, limiter=self._threads)
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(row, asked.encoding_format)}
            for index, row in enumerate(np.asarray(rows, dtype=np.float32))
        ]
        tokens = sum(map(estimate_tokens, asked.texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JSONResponse({"object": "list", "model": OFFLINE_EMBEDDING, "data": data, "usage": usage})

    async def _reply(self, asked: ChatRequest, fate: Fate, body: bytes) -> Response:
        try:
            text = await anyio.to_thread.run_sync(self._answered, asked, limiter=self._threads)
        except Unanswerable as error:
            return _error(400, str(error))
        completion = _completion(asked, text, fate.fault, derived_id(body.decode("utf-8", "replace")))
        tokens = completion["usage"]["completion_tokens"]
        await asyncio.sleep(fate.pace * (self._faults.latency_s + self._faults.latency_per_token_s * tokens))
        response = JSONResponse(completion)
        return _dropped(response) if fate.fault is Fault.DROPPED else response

    def _answered(self, asked: ChatRequest) -> str:
        material = Asked.read(asked.said_by("user"), self._embed)
        return answer(asked.task, material).model_dump_json()

    async def _trouble(self, fate: Fate) -> Response | None:
        """The reply of an endpoint that does not get as far as answering."""
        if fate.fault is Fault.RATE_LIMITED:
            seconds = {"retry-after": f"{self._faults.retry_after_s:g}"}
            return _error(429, "too many requests", code="rate_limit_exceeded", headers=seconds)
        if fate.fault is Fault.SERVER_ERROR:
            return _error(500, "the server had an error")
        if fate.fault is Fault.TIMEOUT:
            await asyncio.sleep(self._faults.hang_s)
            return _error(504, "the model took too long")
        return None


def create_app(embed: Embed | None, faults: Faults | None = None) -> Starlette:
    """The application. It keeps no state that a reply depends on, but how often a request came."""
    server = OfflineServer(embed, faults or Faults())
    return Starlette(
        routes=[
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/v1/embeddings", server.embeddings, methods=["POST"]),
            Route("/v1/models", server.models),
        ]
    )


def _completion(asked: ChatRequest, text: str, fault: Fault | None, name: str) -> dict[str, Any]:
    said, finish, refusal = text, "stop", None
    if fault is Fault.CUT:
        said, finish = text[: len(text) // 2], "length"
    elif fault is Fault.INVALID_JSON:
        said = f"Certainly! Here is what I found: {text[: len(text) // 2]}"
    elif fault is Fault.REFUSAL:
        said, refusal = "", "I cannot help with that."
    if asked.limit is not None and estimate_tokens(said) > asked.limit:
        said, finish = said.encode()[: 4 * asked.limit].decode("utf-8", "ignore"), "length"
    message = {"role": "assistant", "content": said or None, "refusal": refusal}
    tokens_in = sum(estimate_tokens(turn.content) for turn in asked.messages)
    tokens_out = estimate_tokens(said or refusal or "")
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": OFFLINE_MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _dropped(response: Response) -> Response:
    """The same response, breaking off half way."""
    whole = bytes(response.body)

    async def half() -> AsyncIterator[bytes]:
        yield whole[: len(whole) // 2]
        raise ConnectionResetError("dropped on demand")

    return StreamingResponse(half(), headers=dict(response.headers))


def _encoded(row: np.ndarray[Any, np.dtype[np.float32]], form: str) -> str | list[float]:
    return base64.b64encode(row.astype("<f4").tobytes()).decode() if form == "base64" else row.tolist()


def _error(
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    kind = "invalid_request_error" if status < 429 else "server_error"
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status_code=status, headers=headers)
