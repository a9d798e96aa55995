"""One request to an OpenAI-compatible endpoint: its response, or a typed failure.

The SDK's own retries are off, because ours count against attempts, budgets and metrics.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2
import openai

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Permanent, Unavailable
from services.runtime.llm.batches.lines import FAILED
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.cause import Cause
from services.runtime.llm.context_length import context_of, is_about_context
from services.runtime.llm.prices import Tokens
from services.runtime.llm.retries import retry_after_of
from services.runtime.masking import masked_url

_WORTH_REPEATING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_MESSAGE = 1000  # characters
_CAUSES = {
    401: Cause.KEY, 402: Cause.QUOTA, 403: Cause.KEY, 404: Cause.MODEL,
    429: Cause.OVERLOADED, 503: Cause.OVERLOADED, 529: Cause.OVERLOADED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """How messages name the model and its settings.

    Attributes:
        model: The model, for everybody.
        prefix: Prefix of the variables of the key and the model.
        url: Variable of the URL.
    """

    model: str = "the model"
    prefix: str = "NUGGETSTREAM_LLM_"
    url: str = "NUGGETSTREAM_LLM_BASE_URL"

    def advice(self, cause: Cause) -> str | None:
        """What the operator must do; None where waiting may help."""
        advice = {
            Cause.KEY: (
                f"the API key is rejected; set {self.prefix}API_KEY to a valid key and restart the service"
            ),
            Cause.QUOTA: "the quota at the provider is used up; raise it there, and work continues by itself",
            Cause.MODEL: f"there is no such model; check {self.prefix}MODEL and {self.url}",
        }
        return advice.get(cause)


_CHAT = Names()


class Exchange:
    """Requests to one endpoint.

    Args:
        client: The SDK's client, with `max_retries=0`.
        timeout_s: Seconds of silence after which an exchange ends. They are counted here, because an
            in-process transport ignores the limits of the HTTP client.
        names: How messages name the model.

    Attributes:
        url: URL of the endpoint, without secrets.
        host: Host and port of the endpoint.
    """

    def __init__(self, client: openai.AsyncOpenAI, timeout_s: float, names: Names = _CHAT) -> None:
        self._client, self._timeout_s, self._names = client, timeout_s, names
        self.url = masked_url(str(client.base_url))
        self.host = client.base_url.netloc.decode("ascii", "replace").rpartition("@")[2]

    async def post(
        self, path: str, body: Mapping[str, Any], asked: Callable[[], Tokens], silence_s: float | None = None
    ) -> httpx2.Response:
        """The response to one request.

        Args:
            path: Path below the URL of the endpoint.
            body: The request, as JSON.
            asked: Returns the tokens of the request, which the server may charge although it fails.
            silence_s: Seconds for the whole response; those of the exchange by default.

        Raises:
            CallFailed: There is no response, or an error; its `__cause__` is the SDK's error.
        """
        async with self._response(path, body, asked, silence_s or self._timeout_s) as (response, _):
            return response

    @asynccontextmanager
    async def stream(
        self, path: str, body: Mapping[str, Any], asked: Callable[[], Tokens], silence_s: float
    ) -> AsyncIterator[tuple[httpx2.Response, AsyncIterator[bytes]]]:
        """The response to one request while it arrives, for the duration of the block.

        Args:
            path: Path below the URL of the endpoint.
            body: The request, as JSON.
            asked: Returns the tokens of the request, which the server may charge although it fails.
            silence_s: Seconds within which the next piece of the body must arrive.

        Yields:
            The response, whose body is not read yet, and the body in pieces as they arrive.

        Raises:
            CallFailed: As for `post`; also raised where reading the response fails inside the block.
        """
        async with self._response(path, body, asked, silence_s, stream=True) as (response, silence):
            try:
                yield response, _pieces(response, silence, silence_s)
            finally:
                await response.aclose()

    @asynccontextmanager
    async def _response(
        self,
        path: str,
        body: Mapping[str, Any],
        asked: Callable[[], Tokens],
        silence_s: float,
        *,
        stream: bool = False,
    ) -> AsyncIterator[tuple[httpx2.Response, asyncio.Timeout]]:
        try:
            async with asyncio.timeout(silence_s) as silence:
                # Below the SDK's typed methods, which would copy the prompt and build a model of the reply.
                response = await self._client.post(
                    path,
                    cast_to=httpx2.Response,
                    body=body,
                    options={"timeout": silence_s},
                    stream=stream,
                    stream_cls=openai.AsyncStream[Any],
                )
                yield cast(httpx2.Response, response), silence
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise self._timed_out(asked(), silence_s) from error
        except openai.APIConnectionError as error:
            raise self._unreachable(error.__cause__ or error) from error
        except httpx2.HTTPError as error:
            raise self.garbled(asked(), repr(error)) from error
        except openai.APIStatusError as error:
            raise self._status_failure(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def garbled(self, asked: Tokens, problem: str) -> CallFailed:
        """The failure of a call whose response cannot be read."""
        detail = f"{self._names.model}'s endpoint sent an invalid response"
        message = f"{self.url}: {problem}"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail, admin_detail=message)
        return CallFailed(error, cause=Cause.SERVER, retryable=True, charged=asked)

    def _timed_out(self, asked: Tokens, silence_s: float) -> CallFailed:
        detail = f"no answer from {self._names.model} within {silence_s:.4g} s"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail)
        return CallFailed(error, cause=Cause.TIMEOUT, retryable=True, overloaded=True, charged=asked)

    def _unreachable(self, cause: BaseException) -> CallFailed:
        message = f"{self.url}: {str(cause) or type(cause).__name__}"
        detail = f"{self._names.model} cannot be reached"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail, admin_detail=message)
        return CallFailed(error, cause=Cause.UNREACHABLE, retryable=True)

    def _status_failure(self, error: openai.APIStatusError) -> CallFailed:
        status = error.status_code
        detail = f"{self._names.model}'s endpoint answered {status}"
        message = f"{self.url}: {message_of(error)}"
        if (reason := _about_content(error)) is not None:
            if reason is Reason.TOO_LARGE and (most := context_of(message_of(error))) is not None:
                detail = (
                    f"the prompt and its reply are too long for {self._names.model}: {most} tokens at most"
                )
            return CallFailed(Permanent(reason, detail, admin_detail=message), status=status)
        if error.code == FAILED:
            detail = "no batch answered the request"
            return CallFailed(Permanent(Reason.LLM_UNAVAILABLE, detail, admin_detail=message), status=status)
        # What remains is overload, server faults, and what an operator can correct (key, quota, model name).
        retry_after = retry_after_of(error.response.headers, time.time())
        cause = _cause_of(status, error.code)
        advice = self._names.advice(cause)
        return CallFailed(
            Unavailable(
                Reason.LLM_UNAVAILABLE,
                detail if advice is None else f"{advice}: {detail}",
                retry_after,
                admin_detail=message,
            ),
            cause=cause,
            retryable=advice is None and (status in _WORTH_REPEATING or status > 500),
            overloaded=cause is Cause.OVERLOADED,
            retry_after=retry_after,
            status=status,
        )


async def _pieces(
    response: httpx2.Response, silence: asyncio.Timeout, silence_s: float
) -> AsyncIterator[bytes]:
    """The body of a response, each piece of which puts off the end of waiting."""
    async for piece in response.aiter_bytes():
        silence.reschedule(asyncio.get_running_loop().time() + silence_s)
        yield piece


def message_of(error: openai.APIStatusError) -> str:
    """What the endpoint said, at most 1,000 characters.

    OpenAI and vLLM put it into `message`, FastAPI into `detail`, TEI into `error`, and a proxy sends a page.
    The message of the SDK's exception has it in the first case only.
    """
    body: Any = error.body
    message = (body.get("message") or body.get("detail")) if isinstance(body, dict) else body
    return f"{message or error.message} {error.param or ''}".strip()[:_LONGEST_MESSAGE]


def is_filter(error: openai.APIStatusError) -> bool:
    """Whether a content filter of the provider answered."""
    text = f"{error.code} {message_of(error)}".lower()
    return any(word in text for word in ("content_filter", "content_policy", "content management policy"))


def _about_content(error: openai.APIStatusError) -> Reason | None:
    """Why no request with this content will succeed; None where another one may."""
    status = error.status_code
    if status in {400, 403, 422} and is_filter(error):
        return Reason.CONTENT_FILTERED
    too_long = status in {400, 422} and is_about_context(f"{error.type} {message_of(error)}")
    if status == 413 or error.code == "context_length_exceeded" or too_long:
        return Reason.TOO_LARGE
    return Reason.INVALID_INPUT if status in {400, 422} else None


def _cause_of(status: int, code: str | None) -> Cause:
    return Cause.QUOTA if code == "insufficient_quota" else _CAUSES.get(status, Cause.SERVER)
