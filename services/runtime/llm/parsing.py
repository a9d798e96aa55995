"""Parse a reply: strictly, then tolerantly, but never by guessing.

Models without structured outputs wrap JSON in prose and code fences, or reason aloud before they answer.
Accepted is the whole text as JSON, with or without a code fence, and a bare list where the reply has a
single field. Otherwise the reply is prose with JSON inside, and prose may quote an object that a stranger
wrote. Such a reply is read only if it ends with an object, which begins a line or follows a sentence, and if
nothing else in it is another reading: an object that has a field of the reply and does not say the same, or
a word outside the object that is another value of an enum, such as another winner. Reasoning between
`<think>` tags at the start is not part of the reply.

Parsing takes time linear in the length of the reply: at most `_ATTEMPTS` places are decoded, each once.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from services.runtime.llm.prompt import Prompt, R

_ATTEMPTS = 64  # places of a reply at which decoding is tried
_OBJECT = re.compile(r'\{(?=[ \t\r\n]{0,200}["}])')  # only this can begin a JSON object; bounded, so linear
_BEFORE = re.compile(r"(?:\A|\n|[.!?:]\s)[ \t]{0,200}\Z")  # what a quotation in a sentence does not follow
_WORD = re.compile(r"[a-z_]+")
_THINK, _THOUGHT = "<think>", "</think>"
_FENCE = "```"


class Unusable(Exception):
    """A reply that cannot be used. The message says why, so that the model can repair it."""


class _Ambiguous(Unusable):
    """A reply, or one object of it, that can be read in two ways."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One object in the text of a reply, and where it begins and ends."""

    value: dict[str, Any]
    start: int
    end: int


def read_reply(text: str, prompt: Prompt[R]) -> R:
    """The value in a reply, validated against the prompt's shape and its check.

    Raises:
        Unusable: The reply contains no valid value, or two different ones.
    """
    text = _unfenced(_without_thoughts(text).strip())
    try:
        decoded = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _read_prose(text, prompt)
    fields = list(prompt.reply.model_fields)
    if isinstance(decoded, list) and len(fields) == 1:
        decoded = {fields[0]: decoded}
    return _validated(decoded, prompt)


def _read_prose(text: str, prompt: Prompt[R]) -> R:
    objects = list(_objects(text))
    if not objects:
        raise Unusable("it contains no complete JSON object")
    *others, last = objects
    if not _BEFORE.search(text, 0, last.start) or text[last.end :].strip().strip("`"):
        raise Unusable("the JSON object is surrounded by other text")
    value = _validated(last.value, prompt)
    for other in others:
        if _is_another_reading(other.value, value, prompt):
            raise _Ambiguous("it contains two JSON objects that differ")
    words = set(_WORD.findall(text[: last.start].lower()))
    for field, values in _enums(prompt.reply).items():
        if words & (values - {getattr(value, field)}):
            raise _Ambiguous(f"the text before the JSON object names another {field}")
    return value


def _enums(reply: type[BaseModel]) -> dict[str, set[str]]:
    """The values of the enumerated fields of a reply, by field."""
    fields = reply.model_fields.items()
    return {
        name: set(get_args(field.annotation))
        for name, field in fields
        if get_origin(field.annotation) is Literal
    }


def _is_another_reading(candidate: dict[str, Any], value: R, prompt: Prompt[R]) -> bool:
    """Whether an object has a field of the reply and is not an equal reply."""
    if candidate.keys().isdisjoint(prompt.reply.model_fields):
        return False
    try:
        return _validated(candidate, prompt) != value
    except Unusable:
        return True


def _validated(decoded: object, prompt: Prompt[R]) -> R:
    try:
        value = prompt.reply.model_validate(decoded)
        if prompt.check is not None:
            prompt.check(value)
    except ValidationError as error:
        raise Unusable(_in_short(error)) from error
    except ValueError as error:
        raise Unusable(str(error)) from error
    return value


def _objects(text: str) -> Iterator[_Found]:
    """The outermost JSON objects of a text, in order.

    Raises:
        Unusable: There are more places to try than `_ATTEMPTS`.
    """
    position = 0
    for _ in range(_ATTEMPTS):
        opening = _OBJECT.search(text, position)
        if opening is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            position = opening.end()
        else:
            yield _Found(value, opening.start(), position)
    if _OBJECT.search(text, position) is not None:
        raise Unusable("it contains too many objects to be one reply")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are not repeated with different values."""
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value and value[key] != item:
            raise _Ambiguous("a key of an object is repeated with another value")
        value[key] = item
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _without_thoughts(text: str) -> str:
    """The text without the reasoning that some models put between tags before their reply."""
    start = text.lstrip()
    if not start.startswith(_THINK):
        return text
    _, closed, rest = start.partition(_THOUGHT)
    if not closed:
        raise Unusable("it ends before its reasoning does")
    return rest


def _unfenced(text: str) -> str:
    """The content of a text that is one fenced block, else the text itself."""
    first, _, rest = text.partition("\n")
    tag = first.removeprefix(_FENCE).strip()
    if not first.startswith(_FENCE) or not rest.endswith(_FENCE) or (tag and not tag.isalpha()):
        return text
    return rest.removesuffix(_FENCE)


def _in_short(error: ValidationError) -> str:
    """The first problems and their fields, without the values, which may be long and hostile."""
    problems = [(".".join(map(str, e["loc"])) or "reply", e["msg"]) for e in error.errors(include_url=False)]
    return "; ".join(f"{field}: {message}" for field, message in problems[:5])
