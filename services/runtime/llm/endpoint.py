"""One exchange with a chat model: a request in, a completion or a typed failure out."""

from dataclasses import dataclass, replace

import httpx2
import openai
import structlog
from pydantic import ValidationError

from services.runtime.llm.accounting import Source
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.decisions import native
from services.runtime.llm.decisions.logprobs import Token
from services.runtime.llm.dialect import Dialect, ModelRequest
from services.runtime.llm.exchange import Exchange, is_filter, message_of
from services.runtime.llm.prices import Tokens, estimate_tokens
from services.runtime.llm.wire import ChatCompletion, Usage
from services.runtime.masking import KNOWN

_log = structlog.get_logger()

_NO_SUCH_PATH = frozenset({404, 405, 501})


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


class _NoDecisions(Exception):
    """The endpoint has no path for decisions."""


class Endpoint:
    """A model behind a URL. Its dialect is learnt from its first error replies.

    Args:
        client: The SDK's client, with `max_retries=0`.
        model: Name of the model to ask for.
        timeout_s: Seconds for one whole exchange.
        batched: Whether a call waits for a batch, which goes on when the caller stops waiting.
    """

    def __init__(
        self, client: openai.AsyncOpenAI, model: str, timeout_s: float, *, batched: bool = False
    ) -> None:
        self._exchanges, self.model, self.batched = Exchange(client, timeout_s), model, batched
        self.dialect = Dialect()

    @property
    def host(self) -> str:
        """Host and port of the endpoint."""
        return self._exchanges.host

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
        decides = bool(request.questions) and dialect.decisions
        path = native.PATH if decides else "/chat/completions"
        parameters = dialect.decision_parameters(request) if decides else dialect.parameters(request)
        try:
            body = {"model": self.model, **parameters}
            response = await self._exchanges.post(path, body, lambda: _asked(request))
        except CallFailed as failed:
            if decides and failed.status in _NO_SUCH_PATH:
                raise _NoDecisions from failed
            raise
        return self._decided(request, response) if decides else self._read(request, response)

    def _decided(self, request: ModelRequest, response: httpx2.Response) -> Completion:
        try:
            decided = native.Decided.model_validate_json(response.content)
            text = decided.reply(request.questions).model_dump_json()
        except ValueError as error:
            said = f"{response.text[:200]!r} is not a decision: {error}"
            raise self._exchanges.garbled(_asked(request), said) from error
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
            raise self._exchanges.garbled(_asked(request), said) from error
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


def _asked(request: ModelRequest) -> Tokens:
    return Tokens(input=estimate_tokens(request.text))


def _tokens_of(usage: Usage | None, request: ModelRequest, text: str) -> tuple[Tokens, Source]:
    if usage is None:
        return Tokens(estimate_tokens(request.text), estimate_tokens(text)), "estimate"
    return Tokens(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens), "usage"
