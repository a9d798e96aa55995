"""One exchange with a chat model: a request in, a completion or a typed failure out."""

import time
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai
import structlog
from pydantic import ValidationError

from services.runtime.llm.accounting import Source
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import Cause
from services.runtime.llm.decisions import native
from services.runtime.llm.decisions.logprobs import Token
from services.runtime.llm.dialect import Dialect, ModelRequest
from services.runtime.llm.exchange import Exchange, is_filter, message_of
from services.runtime.llm.parts import Broken, Joined, data_of
from services.runtime.llm.prices import Tokens, estimate_tokens
from services.runtime.llm.repetition import repetition
from services.runtime.llm.speed import Speed, work_of
from services.runtime.llm.wire import ChatCompletion, Usage
from services.runtime.masking import KNOWN

_log = structlog.get_logger()

_CHAT = "/chat/completions"
_NO_SUCH_PATH = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Completion:
    """The completion that an endpoint returned.

    Attributes:
        text: The reply; "" when there is none.
        refusal: The model's explanation when it declined, else None.
        finish: Why it stopped: "stop", "length", "content_filter", or "repetition" where the model wrote the
            same again and again, which the text has once.
        model: Name of the model as the server reports it.
        tokens: Tokens of the call.
        source: "usage" when the server counted the tokens, "estimate" when we did.
        spelled: The tokens of the text with their probabilities, where they were asked for and told.
    """

    text: str
    refusal: str | None
    finish: str
    model: str
    tokens: Tokens
    source: Source
    spelled: tuple[Token, ...] = ()


class _NoDecisions(Exception):
    """The endpoint has no path for decisions."""


class Endpoint:
    """A model behind a URL. Its dialect is learnt from its first error replies.

    Args:
        client: The SDK's client, with `max_retries=0`.
        model: Name of the model to ask for.
        timeout_s: Seconds of silence that the endpoint may always have.
        speed: What is known about its speed; nothing by default.
        batched: Whether a call waits for a batch, which goes on when the caller stops waiting.
        stream: Whether replies may be asked for in parts; never in a batch.

    Attributes:
        host: Host and port of the endpoint.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        model: str,
        timeout_s: float,
        *,
        speed: Speed | None = None,
        batched: bool = False,
        stream: bool = True,
    ) -> None:
        self._exchanges, self.model, self.batched = Exchange(client, timeout_s), model, batched
        self.host = self._exchanges.host
        self.dialect = Dialect(stream=stream and not batched)
        self.speed = speed or Speed(timeout_s)

    async def complete(self, request: ModelRequest) -> Completion:
        """One completion.

        Raises:
            CallFailed: There is no completion; the exception holds the error to raise.
        """
        while True:
            dialect = self.dialect
            try:
                return await self._exchange(request, dialect)
            except CallFailed as failed:
                error = failed.__cause__
                if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
                    raise
                # Checked first, because a content filter's message may quote any word of the prompt.
                learnt = None if is_filter(error) else dialect.learn(message_of(error))
                if learnt is None:
                    raise
                if dialect.effort and not learnt.effort:
                    _log.warning("the endpoint accepts no effort, so none is sent", url=self._exchanges.url)
                self.dialect = learnt
            except _NoDecisions:
                url = self._exchanges.url
                _log.warning("no endpoint for decisions, so decisions are asked by chat", url=url)
                self.dialect = replace(dialect, decisions=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._exchanges.close()

    async def _exchange(self, request: ModelRequest, dialect: Dialect) -> Completion:
        asked = _asked(request).input
        decides = bool(request.questions) and dialect.decisions
        if decides:
            body, work = dialect.decision_parameters(request), asked
        else:
            body = dialect.parameters(request)
            # A model that reasons may be silent meanwhile, and every other one writes part by part.
            unseen = dialect.reasoning(request) if dialect.streams(request) else dialect.limit(request)
            work = work_of(Tokens(asked, unseen))
        silence_s = self.speed.silence(work)
        with self.speed.running(work_of(Tokens(asked, dialect.limit(request)))):
            try:
                if decides:
                    return self._decided(request, await self._post(native.PATH, body, request, silence_s))
                if dialect.streams(request):
                    return await self._streamed(body, request, dialect.limit(request), work, silence_s)
                began = time.perf_counter()
                completion = self._read(request, await self._post(_CHAT, body, request, silence_s))
                self.speed.answered(work_of(completion.tokens), time.perf_counter() - began)
                return completion
            except CallFailed as failed:
                if failed.cause is Cause.TIMEOUT:
                    self.speed.silent(silence_s)
                if decides and failed.status in _NO_SUCH_PATH:
                    raise _NoDecisions from failed
                raise

    async def _post(
        self, path: str, body: dict[str, Any], request: ModelRequest, silence_s: float
    ) -> httpx2.Response:
        return await self._exchanges.post(
            path, {"model": self.model, **body}, lambda: _asked(request), silence_s
        )

    async def _streamed(
        self, body: dict[str, Any], request: ModelRequest, limit: int, work: int, silence_s: float
    ) -> Completion:
        """The completion whose parts arrive one by one, or at once from a server that knows no parts."""
        began, joined = time.perf_counter(), Joined(limit)
        body = {"model": self.model, **body}
        async with self._exchanges.stream(_CHAT, body, lambda: _asked(request), silence_s) as streamed:
            response, pieces = streamed
            if "text/event-stream" not in response.headers.get("content-type", ""):
                await response.aread()
                self.dialect = replace(self.dialect, stream=False)
                return self._read(request, response)
            try:
                async for data in data_of(pieces):
                    first, goes_on = not joined.has_begun, joined.add(data)
                    if first and joined.has_begun:
                        self.speed.answered(work, time.perf_counter() - began)
                    if not goes_on:
                        break
                return self._completion(request, joined.completion())
            except Broken as problem:
                raise self._exchanges.garbled(_asked(request), str(problem)) from problem

    def _decided(self, request: ModelRequest, response: httpx2.Response) -> Completion:
        try:
            decided = native.Decided.model_validate_json(response.content)
            text = decided.reply(request.questions).model_dump_json()
        except ValueError as error:
            detail = f"{response.text[:200]!r} is not a decision: {error}"
            raise self._exchanges.garbled(_asked(request), detail) from error
        usage = decided.usage
        counted = usage and Tokens(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        return Completion(
            text=text,
            refusal=None,
            finish="stop",
            model=KNOWN.hide_in_content(decided.model or self.model),
            tokens=counted or Tokens(estimate_tokens(request.text)),
            source="usage" if counted else "estimate",
        )

    def _read(self, request: ModelRequest, response: httpx2.Response) -> Completion:
        try:
            reply = ChatCompletion.model_validate_json(response.content)
        except ValidationError as error:
            detail = f"{response.text[:200]!r} is not a chat completion"
            raise self._exchanges.garbled(_asked(request), detail) from error
        return self._completion(request, reply)

    def _completion(self, request: ModelRequest, reply: ChatCompletion) -> Completion:
        choice = reply.choices[0]
        finish = choice.finish_reason or "stop"
        text = KNOWN.hide_in_content(choice.message.content or "")  # an endpoint may repeat what it was sent
        tokens, source = _tokens_of(reply.usage, request, text)
        if finish == "length" and (repeated := repetition(text)) is not None:
            text, finish = text[:-repeated], "repetition"
        return Completion(
            text=text,
            refusal=choice.message.refusal,
            finish=finish,
            model=KNOWN.hide_in_content(reply.model or self.model),
            tokens=tokens,
            source=source,
            spelled=tuple(choice.tokens),
        )


def _asked(request: ModelRequest) -> Tokens:
    return Tokens(input=estimate_tokens(request.text))


def _tokens_of(usage: Usage | None, request: ModelRequest, text: str) -> tuple[Tokens, Source]:
    if usage is None:
        return Tokens(estimate_tokens(request.text), estimate_tokens(text)), "estimate"
    return Tokens(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0), "usage"
