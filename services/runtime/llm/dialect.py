"""Which request parameters a compatible endpoint accepts, learnt from its error messages.

"OpenAI-compatible" servers differ: some have no structured outputs, and reasoning models require
`max_completion_tokens` and accept no temperature. A 400 reply that names the parameter is enough to learn it.
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from services.runtime.llm.context_length import context_of
from services.runtime.llm.decisions.logprobs import TOP
from services.runtime.llm.decisions.native import parameters as decision_parameters
from services.runtime.llm.decisions.question import Question
from services.runtime.llm.prices import estimate_tokens
from services.runtime.llm.prompt import Message, Prompt, R, schema_of

Format = Literal["lines", "schema", "object", "none"]
_FORMATS: tuple[Format, ...] = ("lines", "schema", "object", "none")
_ABOUT_FORMAT = ("response_format", "schema", "structured output", "grammar")
_ABOUT_LINES = ("pattern", "minitems", "maxitems", "maxlength", "grammar", "json schema", "invalid schema")

# Fields of a dialect -> the parameter by which an error message tells that it is not accepted.
_OPTIONAL = {
    "prompt_cache_key": "prompt_cache_key",
    "logprobs": "logprobs",
    "effort": "reasoning_effort",
    "temperature": "temperature",
    "usage": "stream_options",
}
_STREAM = re.compile(r"\bstream(ing|ed)?\b")
_DENSER = 1.2  # a token of an unusual text is shorter than four bytes
_LEAST = 100  # tokens of a reply; with less room there is none
_SHORT = 100  # tokens; a reply that is surely no longer is not streamed

# What a model that reasons may write before its reply, in tokens by effort. It counts for the same limit.
_REASONING = {"none": 0, "minimal": 2_000, "low": 5_000, "medium": 15_000, "high": 30_000, "xhigh": 60_000}
_DEFAULT_EFFORT = "medium"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request, independent of the endpoint's dialect.

    Attributes:
        messages: The prompt.
        task: Name of its task.
        schema: JSON schema of the reply, with the form of its lines.
        plain: JSON schema of the reply without that.
        max_tokens: Maximum length of the reply, in tokens.
        temperature: Sampling temperature; None sends none.
        prompt_cache_key: Key of a prompt that begins like others.
        questions: The questions of a decision; empty for other prompts.
        material: What an endpoint for decisions gets instead of `messages`.
        effort: Effort of a model that reasons; None sends none.
    """

    messages: list[Message]
    task: str
    schema: dict[str, object]
    plain: dict[str, object]
    max_tokens: int
    temperature: float | None
    prompt_cache_key: str | None = None
    questions: tuple[Question, ...] = ()
    material: tuple[Message, ...] = ()
    effort: str | None = None

    @classmethod
    def of(cls, prompt: Prompt[R]) -> "ModelRequest":
        """The request that asks a prompt."""
        return cls(
            messages=prompt.messages(),
            task=prompt.task,
            schema=prompt.schema(),
            plain=schema_of(prompt.reply),
            max_tokens=prompt.max_tokens,
            temperature=prompt.temperature,
            prompt_cache_key=prompt.prompt_cache_key(),
            questions=prompt.questions,
            material=tuple(prompt.material()) if prompt.questions else (),
        )

    @property
    def text(self) -> str:
        """The text of all messages, for token estimates."""
        return "\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The request parameters that one endpoint accepts.

    Attributes:
        format: What it supports of structured outputs: a JSON schema with the form of lines, one without, or
            a JSON object. Without a schema, that is said in words.
        limit_name: Name of the parameter that limits the length of the reply.
        temperature: Whether it accepts a temperature.
        prompt_cache_key: Whether it accepts the key of a prompt that begins like others.
        decisions: Whether it answers decisions at a path of their own.
        effort: Whether it accepts an effort.
        logprobs: Whether it tells how probable the tokens of a reply were.
        stream: Whether it sends a reply in parts while it writes.
        usage: Whether it counts the tokens of such a reply.
        context: Tokens that a prompt and its reply may have together; None where that is unknown.
    """

    format: Format = "lines"
    limit_name: str = "max_tokens"
    temperature: bool = True
    prompt_cache_key: bool = True
    decisions: bool = True
    logprobs: bool = True
    effort: bool = True
    stream: bool = True
    usage: bool = True
    context: int | None = None

    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """The parameters of the request, except for the model."""
        limit = self.limit(request)
        parameters: dict[str, Any] = {"messages": request.messages, self.limit_name: limit}
        if self.streams(request):
            parameters["stream"] = True
            if self.usage:
                parameters["stream_options"] = {"include_usage": True}
        if self.temperature and request.temperature is not None:
            parameters["temperature"] = request.temperature
        if self.effort and request.effort is not None:
            parameters["reasoning_effort"] = request.effort
        if self.prompt_cache_key and request.prompt_cache_key is not None:
            parameters["prompt_cache_key"] = request.prompt_cache_key
        if request.questions and self.logprobs:
            parameters |= {"logprobs": True, "top_logprobs": TOP}
        if self.format in ("lines", "schema"):
            chosen = request.schema if self.format == "lines" else request.plain
            schema = {"name": request.task, "schema": chosen, "strict": True}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            parameters["messages"] = _with_schema(request)
            if self.format == "object":
                parameters["response_format"] = {"type": "json_object"}
        return parameters

    def limit(self, request: ModelRequest) -> int:
        """Maximum length of what the model writes, its reasoning included, in tokens."""
        wanted = request.max_tokens + self.reasoning(request)
        if self.context is None:
            return wanted
        # Replies are mostly shorter than their limit, and some servers reject what might not fit.
        left = self.context - int(_DENSER * estimate_tokens(request.text))
        return min(wanted, max(left, _LEAST))

    def streams(self, request: ModelRequest) -> bool:
        """Whether the reply is asked for in parts, so that a slow model can be told from a silent one."""
        return self.stream and self.limit(request) > _SHORT

    def reasoning(self, request: ModelRequest) -> int:
        """Tokens that the model may write before its reply; 0 for a model that does not reason."""
        if self.effort and request.effort is not None:
            return _REASONING.get(request.effort, _REASONING[_DEFAULT_EFFORT])
        # Only models that reason insist on this name.
        return _REASONING[_DEFAULT_EFFORT] if self.limit_name == "max_completion_tokens" else 0

    def decision_parameters(self, request: ModelRequest) -> dict[str, Any]:
        """The parameters of a decision at a path of its own, except for the model."""
        parameters = decision_parameters(request.material, request.questions)
        if self.prompt_cache_key and request.prompt_cache_key is not None:
            parameters["prompt_cache_key"] = request.prompt_cache_key
        return parameters

    def learn(self, message: str) -> "Dialect | None":
        """The dialect to try after a 400 reply with this message; None when no parameter is at fault.

        Every change is made at most once and never undone, so retrying ends.
        """
        text = message.lower()
        if self.context is None and (context := context_of(text)) is not None:
            return replace(self, context=context)
        if self.format != "none" and any(word in text for word in _ABOUT_FORMAT):
            return replace(self, format=_less(self.format, text))
        if self.limit_name == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit_name="max_completion_tokens")
        for name, word in _OPTIONAL.items():
            if getattr(self, name) and word in text:
                return replace(self, **{name: False})  # type: ignore[arg-type] # all are booleans
        return replace(self, stream=False) if self.stream and _STREAM.search(text) else None


def _less(format_: Format, message: str) -> Format:
    """What to ask for after an error about the format: what the message leaves, at least one step less.

    >>> _less("lines", "'pattern' is not permitted"), _less("lines", "unknown parameter: response_format")
    ('schema', 'none')
    """
    if any(word in message for word in _ABOUT_LINES):
        left: Format = "schema"
    else:
        left = "object" if "json_schema" in message or "structured output" in message else "none"
    return _FORMATS[max(_FORMATS.index(left), _FORMATS.index(format_) + 1)]


def _with_schema(request: ModelRequest) -> list[Message]:
    """The messages with the schema added to the system text, for lack of structured outputs."""
    system, *rest = request.messages
    text = f"{system['content']}\n\nThe JSON schema of the reply:\n{json.dumps(request.plain)}"
    return [{"role": "system", "content": text}, *rest]
