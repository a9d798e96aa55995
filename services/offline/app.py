"""The OpenAI-compatible application: chat completions, embeddings, models.

    POST /v1/chat/completions    POST /v1/decisions    POST /v1/embeddings    GET /v1/models
    POST /v1/files    POST /v1/batches    (and what belongs to them, see `batches`)

Tokens in `usage` are estimated, one per four bytes of UTF-8, because there is no tokenizer.
"""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nuggetstream.domain.identity import derived_id
from services.offline.answers import Further, ParsedPrompt, Unanswerable, answer
from services.offline.batches import BatchServer
from services.offline.damage import damaged
from services.offline.decisions import as_lines, decision, logprobs
from services.offline.errors import api_error
from services.offline.faults import Behaviour, Fault, Faults, FaultSampler
from services.offline.heuristics import Embed
from services.offline.prompt_cache import PromptCache
from services.offline.requests import ChatRequest, DecisionRequest, EmbeddingRequest
from services.offline.streaming import streamed
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prices import OFFLINE_MODEL, estimate_tokens

OFFLINE_EMBEDDING = "offline-embedding"
_THREADS = 2  # threads in which heuristics run, outside the event loop


class OfflineServer:
    """The handlers of the endpoints.

    Args:
        embed: Sentence embeddings for the heuristics and the embeddings endpoint; None without them.
        faults: The faults to simulate.
        more: Heuristics of further tasks.
        reply_to: Answers a chat completion request; by default one with a prompt of ours.
    """

    def __init__(
        self,
        embed: Embed | None,
        faults: Faults,
        more: Further | None = None,
        reply_to: Callable[[ChatRequest], BaseModel | str] | None = None,
    ) -> None:
        self._embed, self._faults, self._more = embed, faults, more
        self._reply_to = reply_to or self._answer_to
        self._sampler = FaultSampler(faults)
        self._prompts = PromptCache()
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def models(self, _: Request) -> Response:
        """List the models served here."""
        names = [OFFLINE_MODEL] if self._embed is None else [OFFLINE_MODEL, OFFLINE_EMBEDDING]
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "nuggetstream"} for name in names]
        return JSONResponse({"object": "list", "data": models})

    async def chat(self, request: Request) -> Response:
        """Answer one of our prompts."""
        return await self.chat_with(await request.body())

    async def chat_with(self, body: bytes) -> Response:
        """Answer one of our prompts, which is the body of a request or a line of a batch."""
        behaviour = self._sampler.draw(body)
        if (failure := await self._failure(behaviour)) is not None:
            return failure
        try:
            chat = ChatRequest.model_validate_json(body)
        except ValidationError as error:
            return api_error(400, f"not a chat completion request: {error}")
        refused = _not_accepted(chat, self._faults)
        return refused or await self._reply(chat, behaviour, body)

    async def decide(self, request: Request) -> Response:
        """Answer the questions of one of our decisions."""
        body = await request.body()
        behaviour = self._sampler.draw(body)
        if (failure := await self._failure(behaviour)) is not None:
            return failure
        if not self._faults.decisions:
            return api_error(404, "there is no such path")
        try:
            asked = DecisionRequest.model_validate_json(body)
            answers = await anyio.to_thread.run_sync(self._decide, asked, limiter=self._threads)
            decided = decision(asked, answers, self._faults, self._prompts.cached(asked.text))
        except (ValueError, Unanswerable) as error:
            return api_error(400, f"not a decision that this model answers: {error}")
        await asyncio.sleep(behaviour.pace * self._faults.latency_s)
        self._prompts.add(asked.text)
        return JSONResponse(decided)

    async def embeddings(self, request: Request) -> Response:
        """Embed texts, if the server has an embedding model."""
        body = await request.body()
        if (failure := await self._failure(self._sampler.draw(body))) is not None:
            return failure
        if self._embed is None:
            return api_error(404, "this server was started without embeddings", code="model_not_found")
        try:
            embedding = EmbeddingRequest.model_validate_json(body)
        except ValidationError as error:
            return api_error(400, f"not an embeddings request: {error}")
        rows = await anyio.to_thread.run_sync(self._embed, embedding.texts, limiter=self._threads)
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(row, embedding.encoding_format)}
            for index, row in enumerate(np.asarray(rows, dtype=np.float32))
        ]
        tokens = sum(map(estimate_tokens, embedding.texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JSONResponse({"object": "list", "model": OFFLINE_EMBEDDING, "data": data, "usage": usage})

    async def _reply(self, chat: ChatRequest, behaviour: Behaviour, body: bytes) -> Response:
        began = time.monotonic()
        try:
            reply = await anyio.to_thread.run_sync(self._reply_to, chat, limiter=self._threads)
        except Unanswerable as error:
            return api_error(400, str(error))
        text = reply if isinstance(reply, str) else _written(reply)
        name = derived_id(body.decode("utf-8", "replace"))
        thought = 0 if chat.reasoning_effort == "none" else self._faults.reasoning_tokens or 0
        completion = _completion(chat, text, behaviour.fault, name, thought)
        if chat.logprobs and isinstance(reply, DecisionReply):
            completion["choices"][0]["logprobs"] = logprobs(text, reply, self._faults.confidence)
        completion["usage"]["prompt_tokens_details"] = {"cached_tokens": self._prompts.cached(chat.text)}
        tokens = completion["usage"]["completion_tokens"]
        delay = behaviour.pace * self._faults.latency_s
        writing = behaviour.pace * self._faults.latency_per_token_s * tokens
        delay += 0.0 if chat.stream else writing
        await asyncio.sleep(delay - (time.monotonic() - began))  # the time of the heuristics is part of it
        self._prompts.add(chat.text)
        dropped = behaviour.fault is Fault.DROPPED
        if chat.stream:
            return streamed(completion, writing, usage=chat.counts_stream, dropped=dropped)
        response = JSONResponse(completion)
        return _dropped(response) if dropped else response

    def _answer_to(self, chat: ChatRequest) -> BaseModel:
        prompt = ParsedPrompt.read(chat.first_message("user"), self._embed)
        return answer(chat.task, prompt, self._more)

    def _decide(self, asked: DecisionRequest) -> list[Answer]:
        prompt = ParsedPrompt.read(asked.first_message("user"), self._embed)
        reply = answer(asked.task, prompt, self._more)
        if not isinstance(reply, DecisionReply):
            raise Unanswerable(f"{asked.task!r} is no decision")
        return reply.answers

    async def _failure(self, behaviour: Behaviour) -> Response | None:
        """The error reply for a fault that prevents an answer; None without such a fault."""
        if behaviour.fault is Fault.RATE_LIMITED:
            seconds = {"retry-after": f"{self._faults.retry_after_s:g}"}
            return api_error(429, "too many requests", code="rate_limit_exceeded", headers=seconds)
        if behaviour.fault is Fault.SERVER_ERROR:
            return api_error(500, "the server had an error")
        if behaviour.fault is Fault.TIMEOUT:
            await asyncio.sleep(self._faults.hang_s)
            return api_error(504, "the model took too long")
        return None


def create_app(
    embed: Embed | None,
    faults: Faults | None = None,
    more: Further | None = None,
    *,
    reply_to: Callable[[ChatRequest], BaseModel | str] | None = None,
) -> Starlette:
    """The application of an `OfflineServer`.

    Its state is how often each request came, which determines the faults, and which prompts were answered,
    which determines how many tokens of the next one count as cached.
    """
    faults = faults or Faults()
    server = OfflineServer(embed, faults, more, reply_to)
    batches = BatchServer(faults, server.chat_with) if faults.batches else None
    return Starlette(
        routes=[
            *(batches.routes() if batches is not None else []),
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/v1/decisions", server.decide, methods=["POST"]),
            Route("/v1/embeddings", server.embeddings, methods=["POST"]),
            Route("/v1/models", server.models),
        ]
    )


def _written(reply: BaseModel) -> str:
    return as_lines(reply) if isinstance(reply, DecisionReply) else reply.model_dump_json()


def _not_accepted(chat: ChatRequest, faults: Faults) -> Response | None:
    """The error reply to a parameter that the model does not accept; None where it accepts all."""
    reasons = faults.reasoning_tokens is not None
    rejected = (
        (chat.stream and not faults.streaming, "stream", "streaming is not supported", None),
        (
            chat.response_format and not faults.structured_outputs,
            "response_format",
            "response_format is not supported by this model",
            None,
        ),
        (
            chat.logprobs and not faults.logprobs,
            "logprobs",
            "logprobs are not supported by this model",
            None,
        ),
        (
            reasons and chat.max_tokens is not None,
            "max_tokens",
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
        ),
        (
            reasons and chat.temperature is not None,
            "temperature",
            "'temperature' does not support this value with this model.",
            "unsupported_value",
        ),
    )
    replies = (
        api_error(400, message, param=name, code=code) for holds, name, message, code in rejected if holds
    )
    return next(replies, None)


def _completion(chat: ChatRequest, text: str, fault: Fault | None, name: str, thought: int) -> dict[str, Any]:
    content, finish, refusal = damaged(text, fault)
    if chat.limit is not None and thought + estimate_tokens(content) > chat.limit:
        thought = min(thought, chat.limit)
        content, finish = content.encode()[: 4 * (chat.limit - thought)].decode("utf-8", "ignore"), "length"
    message = {"role": "assistant", "content": content or None, "refusal": refusal}
    schema = json.dumps(chat.response_format) if chat.response_format else ""
    tokens_in = sum(estimate_tokens(turn.content) for turn in chat.messages) + estimate_tokens(schema)
    tokens_out = thought + estimate_tokens(content or refusal or "")
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": OFFLINE_MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "completion_tokens_details": {"reasoning_tokens": thought},
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _dropped(response: Response) -> Response:
    """The same response with a connection that breaks half way."""
    body = bytes(response.body)

    async def half() -> AsyncIterator[bytes]:
        yield body[: len(body) // 2]
        raise ConnectionResetError("simulated fault")

    return StreamingResponse(half(), headers=dict(response.headers))


def _encoded(row: np.ndarray[Any, np.dtype[np.float32]], form: str) -> str | list[float]:
    return base64.b64encode(row.astype("<f4").tobytes()).decode() if form == "base64" else row.tolist()
