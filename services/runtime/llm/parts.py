"""A streamed reply: the parts of a chat completion, joined to the completion that they make up.

data: {"choices": [{"delta": {"content": "Ti"}}]}     data: {"choices": [], "usage": {…}}     data: [DONE]
"""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import BaseModel, Field, WrapValidator

from services.runtime.llm.decisions.logprobs import Token
from services.runtime.llm.repetition import WINDOW, repetition
from services.runtime.llm.wire import ChatCompletion, Choice, Logprobs, Message, Usage, or_none

_LOOK = 200  # characters after which repetition is looked for again
_PARTS_PER_TOKEN = 4  # of the limit; a server that writes on and on has not understood it


class _Delta(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: Any = None  # vLLM, OpenRouter
    reasoning_content: Any = None  # llama.cpp, DeepSeek


class _PartChoice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None
    logprobs: Annotated[Logprobs | None, WrapValidator(or_none)] = None


class _Part(BaseModel):
    choices: Annotated[list[_PartChoice], Field(max_length=1)] = []
    model: str | None = None
    usage: Annotated[Usage | None, WrapValidator(or_none)] = None
    error: Any = None


class Broken(ValueError):
    """The endpoint reports an error, or the stream is none of a chat completion."""


class Joined:
    """The parts so far.

    Args:
        limit: Maximum length of the reply, in tokens.
    """

    def __init__(self, limit: int) -> None:
        self._most = limit * _PARTS_PER_TOKEN
        self._parts = 0
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._tokens: list[Token] = []
        self._tail, self._unread = "", 0
        self._finish: str | None = None
        self._model: str | None = None
        self._usage: Usage | None = None
        self._done = False

    @property
    def has_begun(self) -> bool:
        """Whether the model has written anything, its reasoning included."""
        return self._parts > 0

    def add(self, data: bytes) -> bool:
        """Add one part.

        Returns:
            Whether the rest is worth waiting for: False for a reply that repeats itself or has no end.

        Raises:
            Broken: It is none.
        """
        if data == b"[DONE]":
            self._done = True
            return True
        try:
            part = _Part.model_validate_json(data)
        except ValueError as error:
            raise Broken(f"{data[:200]!r} is no part of a chat completion") from error
        if part.error is not None:
            raise Broken(f"{part.error}"[:1000])
        self._model, self._usage = part.model or self._model, part.usage or self._usage
        return all(self._add(choice) for choice in part.choices)

    def completion(self) -> ChatCompletion:
        """The completion that the parts make up.

        Raises:
            Broken: It is not complete.
        """
        if self._finish is None and not self._done:
            raise Broken("the stream ended before the reply did")
        message = Message(content="".join(self._text), refusal="".join(self._refusal) or None)
        logprobs = Logprobs(content=self._tokens) if self._tokens else None
        choice = Choice(message=message, finish_reason=self._finish, logprobs=logprobs)
        return ChatCompletion(choices=[choice], model=self._model, usage=self._usage)

    def _add(self, choice: _PartChoice) -> bool:
        self._finish = choice.finish_reason or self._finish
        if choice.logprobs is not None:
            self._tokens += choice.logprobs.content or []
        delta = choice.delta or _Delta()
        if not (delta.content or delta.refusal or delta.reasoning or delta.reasoning_content):
            return True
        self._parts += 1
        self._text.append(delta.content or "")
        self._refusal.append(delta.refusal or "")
        if self._finish is None and (self._parts > self._most or self._repeats(delta.content or "")):
            self._finish = "length"
        return self._finish != "length" or choice.finish_reason is not None

    def _repeats(self, content: str) -> bool:
        self._tail = (self._tail + content)[-WINDOW:]
        self._unread += len(content)
        if self._unread < _LOOK:
            return False
        self._unread = 0
        return repetition(self._tail) is not None


async def data_of(received: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of server-sent events, each of which has one line of it.

    Args:
        received: The body of the response in pieces of any length.
    """
    rest = b""
    async for piece in received:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if rest.startswith(b"data:"):
        yield rest[5:].strip()
