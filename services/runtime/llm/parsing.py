"""Parse a reply: strictly, then tolerantly, but never by guessing.

Models without structured outputs wrap JSON in prose and code fences, or reason aloud and correct
themselves. Accepted are the whole text as JSON, else the last JSON object in it. A bare list is accepted
where the reply has a single field.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from services.runtime.llm.prompt import Prompt, R

_OPENING = re.compile(r"\{")
_FENCED = re.compile(r"\A\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_DECODER = json.JSONDecoder()


class Unusable(Exception):
    """A reply that cannot be used. The message says why, so that the model can repair it."""


def read_reply(text: str, prompt: Prompt[R]) -> R:
    """The value in a reply, validated against the prompt's shape and its check.

    Raises:
        Unusable: The reply contains no valid value.
    """
    decoded = _decode(text)
    fields = list(prompt.reply.model_fields)
    if isinstance(decoded, list) and len(fields) == 1:
        decoded = {fields[0]: decoded}
    try:
        value = prompt.reply.model_validate(decoded)
        if prompt.check is not None:
            prompt.check(value)
    except ValidationError as error:
        raise Unusable(_in_short(error)) from error
    except ValueError as error:
        raise Unusable(str(error)) from error
    return value


def _decode(text: str) -> Any:
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        pass
    last = None
    for last in _objects(text):  # noqa: B007 - the last one wins
        pass
    if last is None:
        raise Unusable("it contains no complete JSON object")
    return last


def _objects(text: str) -> Iterator[dict[str, Any]]:
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        try:
            decoded, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            position = opening.end()
        else:
            yield decoded


def _in_short(error: ValidationError) -> str:
    """The first problems and their fields, without the values, which may be long and hostile."""
    problems = [(".".join(map(str, e["loc"])) or "reply", e["msg"]) for e in error.errors(include_url=False)]
    return "; ".join(f"{field}: {message}" for field, message in problems[:5])
