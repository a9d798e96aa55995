"""One exchange with an OpenAI-compatible endpoint: a question in, a completion or a typed failure out.

The SDK's own retries are off: ours are counted, paid for, and visible.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Permanent, StageError, Unavailable
from services.runtime.llm.accounting import Source
from services.runtime.llm.dialect import Dialect, Question
from services.runtime.llm.patience import retry_after
from services.runtime.llm.prices import Tokens, estimate_tokens

_WORTH_REPEATING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back.

    Attributes:
        text: the reply, "" when there is none.
        refusal: the model's words when it declined, else None.
        finish: why it stopped: stop, length, content_filter.
        model: as the server names it.
        tokens, source: what it cost, and who counted.
    """

    text: str
    refusal: str | None
    finish: str
    model: str
    tokens: Tokens
    source: Source


class CallFailed(Exception):
    """No completion came back.

    Attributes:
        error: what to tell the runner when this is given up on.
        again: whether the same call may succeed shortly.
        overloaded: whether the endpoint has more to do than it can.
        charged: tokens that the server may charge for all the same; None when it surely does not.
        asked_for: seconds the server asked us to wait.
    """

    def __init__(
        self,
        error: StageError,
        *,
        again: bool = False,
        overloaded: bool = False,
        charged: Tokens | None = None,
        asked_for: float | None = None,
    ) -> None:
        super().__init__(error.detail)
        self.error, self.again, self.overloaded = error, again, overloaded
        self.charged, self.asked_for = charged, asked_for


class Endpoint:
    """A model behind a URL. Learns its dialect from the first refusals.

    Args:
        client: with `max_retries=0`.
        model: the name to ask for.
        timeout_s: for one exchange from first byte to last. Kept here and not only in the HTTP client,
            whose limits are per read and which an in-process transport does not know.
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str, timeout_s: float) -> None:
        self._client, self.model, self._timeout_s = client, model, timeout_s
        self.url = str(client.base_url.copy_with(userinfo=b""))
        self.dialect = Dialect()

    async def complete(self, question: Question) -> Completion:
        """One completion.

        Raises:
            CallFailed: with the error it amounts to.
        """
        while True:
            spoken = self.dialect
            try:
                return await self._exchange(question, spoken)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as refusal:
                # A content filter's message may name any word of the prompt, so it is asked first.
                learnt = None if _is_filter(refusal) else spoken.learn(_said(refusal))
                if learnt is None:
                    raise self._status_failure(refusal) from refusal
                self.dialect = learnt

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _exchange(self, question: Question, dialect: Dialect) -> Completion:
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._client.chat.completions.create(
                    model=self.model, **dialect.parameters(question)
                )
        except (TimeoutError, openai.APITimeoutError) as error:
            raise self._timed_out(question) from error
        except openai.APIConnectionError as error:
            raise self._unreachable(error.__cause__ or error) from error
        except (json.JSONDecodeError, openai.APIResponseValidationError, httpx2.HTTPError) as error:
            raise self._garbled(question, repr(error)) from error
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            raise
        except openai.APIStatusError as error:
            raise self._status_failure(error) from error
        return self._read(question, found)

    def _read(self, question: Question, found: object) -> Completion:
        # The SDK builds its models without validation, and hands over text when that is what came.
        if not isinstance(found, ChatCompletion) or not found.choices or not found.choices[0].message:
            raise self._garbled(question, f"{str(found)[:200]!r} is not a chat completion")
        choice = found.choices[0]
        text = choice.message.content or ""
        tokens, source = _counted(found, question, text)
        return Completion(
            text,
            choice.message.refusal,
            choice.finish_reason or "stop",
            found.model or self.model,
            tokens,
            source,
        )

    def _timed_out(self, question: Question) -> CallFailed:
        detail = f"no answer from the model at {self.url} within {self._timeout_s:g} s"
        error = Unavailable(Reason.LLM_UNAVAILABLE, detail)
        charged = Tokens(input=estimate_tokens(question.text))
        return CallFailed(error, again=True, overloaded=True, charged=charged)

    def _unreachable(self, cause: BaseException) -> CallFailed:
        said = str(cause) or type(cause).__name__
        detail = f"cannot reach the model at {self.url}: {said}"
        return CallFailed(Unavailable(Reason.LLM_UNAVAILABLE, detail), again=True)

    def _garbled(self, question: Question, said: str) -> CallFailed:
        error = Unavailable(Reason.LLM_UNAVAILABLE, f"the model at {self.url} answered nonsense: {said}")
        return CallFailed(error, again=True, charged=Tokens(input=estimate_tokens(question.text)))

    def _status_failure(self, error: openai.APIStatusError) -> CallFailed:
        status, said = error.status_code, _said(error)
        detail = f"the model at {self.url} answered {status}: {said[:300]}"
        if status in {400, 403, 422} and _is_filter(error):
            return CallFailed(Permanent(Reason.CONTENT_FILTERED, detail))
        if status == 413 or error.code == "context_length_exceeded":
            return CallFailed(Permanent(Reason.TOO_LARGE, detail))
        if status in {400, 422}:
            return CallFailed(Permanent(Reason.INVALID_INPUT, detail))
        # Left are overload, faults, and what an operator can put right (key, quota, model name).
        asked_for = retry_after(error.response.headers, time.time())
        exhausted = error.code == "insufficient_quota"
        return CallFailed(
            Unavailable(Reason.LLM_UNAVAILABLE, detail, asked_for),
            again=not exhausted and (status in _WORTH_REPEATING or status > 500),
            overloaded=status in {429, 503, 529},
            asked_for=asked_for,
        )


def _counted(found: ChatCompletion, question: Question, text: str) -> tuple[Tokens, Source]:
    usage = found.usage
    if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return Tokens(estimate_tokens(question.text), estimate_tokens(text)), "estimate"
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details is not None else 0
    return Tokens(usage.prompt_tokens, usage.completion_tokens, cached), "usage"


def _said(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return f"{message or error.message} {error.param or ''}".strip()


def _is_filter(error: openai.APIStatusError) -> bool:
    said = f"{error.code} {_said(error)}".lower()
    return any(word in said for word in ("content_filter", "content_policy", "content management policy"))
