"""One exchange with an OpenAI-compatible endpoint: a request in, a completion or a typed failure out.

The SDK's own retries are off, because ours count against attempts, budgets and metrics.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai
import structlog
from pydantic import ValidationError

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Permanent, StageError, Unavailable
from services.runtime.llm.accounting import Source
from services.runtime.llm.batches.lines import FAILED
from services.runtime.llm.cause import Cause
from services.runtime.llm.decisions import native
from services.runtime.llm.decisions.logprobs import Token
from services.runtime.llm.dialect import Dialect, ModelRequest
from services.runtime.llm.prices import Tokens, estimate_tokens
from services.runtime.llm.retries import retry_after_of
from services.runtime.llm.wire import ChatCompletion, Usage
from services.runtime.masking import KNOWN, masked_url

_log = structlog.get_logger()

_NO_SUCH_PATH = frozenset({404, 405, 501})
_WORTH_REPEATING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class Completion:
    """The completion that an endpoint returned.

    Attributes:
        text: The reply; "" when there is none.
        refusal: The model's explanation when it declined, else None.
        finish: Why it stopped: "stop", "length" or "content_filter".
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


# What the operator must do, where waiting alone does not help.
_ADVICE = {
    Cause.KEY: "the API key is rejected; set NUGGETSTREAM_LLM_API_KEY to a valid key and restart the service",
    Cause.QUOTA: "the quota at the provider is used up; raise it there, and work continues by itself",
    Cause.MODEL: "there is no such model; check NUGGETSTREAM_LLM_MODEL and NUGGETSTREAM_LLM_BASE_URL",
}


class CallFailed(Exception):
    """A call that returned no completion.

    Attributes:
        error: The error to raise when the call is not retried.
        cause: Why the model did not answer; None when it did, and its answer is about the content.
        retryable: Whether the same call may succeed shortly.
        overloaded: Whether the endpoint is overloaded.
        charged: Tokens that the server may charge nevertheless; None when it charges nothing.
        retry_after: Seconds that the server asked us to wait.
    """

    def __init__(
        self,
        error: StageError,
        *,
        cause: Cause | None = None,
        retryable: bool = False,
        overloaded: bool = False,
        charged: Tokens | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(error.detail)
        self.error, self.cause = error, cause
        self.retryable, self.overloaded = retryable, overloaded
        self.charged, self.retry_after = charged, retry_after


class _NoDecisions(Exception):
    """The endpoint has no path for decisions."""


class Endpoint:
    """A model behind a URL. Its dialect is learnt from its first error replies.

    Args:
        client: The SDK's client, with `max_retries=0`.
        model: Name of the model to ask for.
        timeout_s: Seconds for one whole exchange. The HTTP client's own limits are per read, and an
            in-process transport ignores them.
        batched: Whether a call waits for a batch, which goes on when the caller stops waiting.
    """

    def __init__(
        self, client: openai.AsyncOpenAI, model: str, timeout_s: float, *, batched: bool = False
    ) -> None:
        self._client, self.model, self._timeout_s, self.batched = client, model, timeout_s, batched
        self.dialect = Dialect()

    @property
    def url(self) -> str:
        """URL of the endpoint, without secrets."""
        return masked_url(str(self._client.base_url))

    @property
    def host(self) -> str:
        """Host and port of the endpoint."""
        return self._client.base_url.netloc.decode("ascii", "replace").rpartition("@")[2]

    async def complete(self, request: ModelRequest) -> Completion:
        """One completion.

        Raises:
            CallFailed: There is no completion; the exception holds the error to raise.
        """
        while True:
            dialect = self.dialect
            try:
                return await self._exchange(request, dialect)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                # Checked first, because a content filter's message may quote any word of the prompt.
                learnt = None if _is_filter(error) else dialect.learn(_message_of(error))
                if learnt is None:
                    raise self._status_failure(error) from error
                if dialect.effort and not learnt.effort:
                    _log.warning("the endpoint accepts no effort, so none is sent", url=self.url)
                self.dialect = learnt
            except _NoDecisions:
                _log.warning("no endpoint for decisions, so decisions are asked by chat", url=self.url)
                self.dialect = replace(dialect, decisions=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _exchange(self, request: ModelRequest, dialect: Dialect) -> Completion:
        decides = bool(request.questions) and dialect.decisions
        path = native.PATH if decides else "/chat/completions"
        parameters = dialect.decision_parameters(request) if decides else dialect.parameters(request)
        try:
            async with asyncio.timeout(self._timeout_s):
                # Below the SDK's typed methods, which would copy the prompt and build a model of the reply.
                response = await self._client.post(
                    path, cast_to=httpx2.Response, body={"model": self.model, **parameters}
                )
        except (TimeoutError, openai.APITimeoutError) as error:
            raise self._timed_out(request) from error
        except openai.APIConnectionError as error:
            raise self._unreachable(error.__cause__ or error) from error
        except httpx2.HTTPError as error:
            raise self._garbled(request, repr(error)) from error
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            raise
        except openai.APIStatusError as error:
            if decides and error.status_code in _NO_SUCH_PATH:
                raise _NoDecisions from error
            raise self._status_failure(error) from error
        return self._decided(request, response) if decides else self._read(request, response)

    def _decided(self, request: ModelRequest, response: httpx2.Response) -> Completion:
        try:
            decided = native.Decided.model_validate_json(response.content)
            text = decided.reply(request.questions).model_dump_json()
        except ValueError as error:
            said = f"{response.text[:200]!r} is not a decision: {error}"
            raise self._garbled(request, said) from error
        usage = decided.usage
        counted = usage and Tokens(
            usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens
        )
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
            said = f"{response.text[:200]!r} is not a chat completion"
            raise self._garbled(request, said) from error
        choice = reply.choices[0]
        text = KNOWN.hide_in_content(choice.message.content or "")  # an endpoint may repeat what it was sent
        tokens, source = _tokens_of(reply.usage, request, text)
        return Completion(
            text=text,
            refusal=choice.message.refusal,
            finish=choice.finish_reason or "stop",
            model=KNOWN.hide_in_content(reply.model or self.model),
            tokens=tokens,
            source=source,
            spelled=tuple(choice.tokens),
        )

    def _timed_out(self, request: ModelRequest) -> CallFailed:
        detail = f"no answer from the model within {self._timeout_s:g} s"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail)
        charged = Tokens(input=estimate_tokens(request.text))
        return CallFailed(error, cause=Cause.TIMEOUT, retryable=True, overloaded=True, charged=charged)

    def _unreachable(self, cause: BaseException) -> CallFailed:
        said = f"{self.url}: {str(cause) or type(cause).__name__}"
        error = Unavailable(Reason.LLM_UNAVAILABLE, "the model cannot be reached", admin_detail=said)
        return CallFailed(error, cause=Cause.UNREACHABLE, retryable=True)

    def _garbled(self, request: ModelRequest, problem: str) -> CallFailed:
        detail = "the model's endpoint sent an invalid response"
        said = f"{self.url}: {problem}"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail, admin_detail=said)
        charged = Tokens(input=estimate_tokens(request.text))
        return CallFailed(error, cause=Cause.SERVER, retryable=True, charged=charged)

    def _status_failure(self, error: openai.APIStatusError) -> CallFailed:
        status = error.status_code
        detail = f"the model's endpoint answered {status}"
        said = f"{self.url}: {_message_of(error)}"
        if status in {400, 403, 422} and _is_filter(error):
            return CallFailed(Permanent(Reason.CONTENT_FILTERED, detail, admin_detail=said))
        if status == 413 or error.code == "context_length_exceeded":
            return CallFailed(Permanent(Reason.TOO_LARGE, detail, admin_detail=said))
        if status in {400, 422}:
            return CallFailed(Permanent(Reason.INVALID_INPUT, detail, admin_detail=said))
        if error.code == FAILED:
            detail = "no batch answered the request"
            return CallFailed(Permanent(Reason.LLM_UNAVAILABLE, detail, admin_detail=said))
        # What remains is overload, server faults, and what an operator can correct (key, quota, model name).
        retry_after = retry_after_of(error.response.headers, time.time())
        cause = _cause_of(status, error.code)
        advice = _ADVICE.get(cause)
        return CallFailed(
            Unavailable(
                Reason.LLM_UNAVAILABLE,
                detail if advice is None else f"{advice}: {detail}",
                retry_after,
                admin_detail=said,
            ),
            cause=cause,
            retryable=cause not in _ADVICE and (status in _WORTH_REPEATING or status > 500),
            overloaded=cause is Cause.OVERLOADED,
            retry_after=retry_after,
        )


def _cause_of(status: int, code: str | None) -> Cause:
    if status == 402 or code == "insufficient_quota":
        return Cause.QUOTA
    if status in {401, 403}:
        return Cause.KEY
    if status == 404:
        return Cause.MODEL
    return Cause.OVERLOADED if status in {429, 503, 529} else Cause.SERVER


def _tokens_of(usage: Usage | None, request: ModelRequest, text: str) -> tuple[Tokens, Source]:
    if usage is None:
        return Tokens(estimate_tokens(request.text), estimate_tokens(text)), "estimate"
    return Tokens(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens), "usage"


def _message_of(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return f"{message or error.message} {error.param or ''}".strip()


def _is_filter(error: openai.APIStatusError) -> bool:
    text = f"{error.code} {_message_of(error)}".lower()
    return any(word in text for word in ("content_filter", "content_policy", "content management policy"))
