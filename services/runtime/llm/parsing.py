"""Reading a reply: strictly, then tolerantly, never by guessing.

Models without structured outputs wrap JSON in prose and code fences, or think aloud and correct
themselves. What is accepted: the whole text as JSON; else the last JSON object in it that decodes.
A list stands for the only field of a reply that has just one.
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
    """A reply that does not answer the question; the text says why, for the model to repair it."""


def read_reply(text: str, prompt: Prompt[R]) -> R:
    """The value in a reply, of the prompt's shape and passed by its check.

    Raises:
        Unusable: when there is none.
    """
    found = _decode(text)
    fields = list(prompt.reply.model_fields)
    if isinstance(found, list) and len(fields) == 1:
        found = {fields[0]: found}
    try:
        value = prompt.reply.model_validate(found)
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
            found, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            position = opening.end()
        else:
            yield found


def _in_short(error: ValidationError) -> str:
    """The first problems, with their place. Not the values: they may be long, and they are hostile."""
    places = [(".".join(map(str, e["loc"])) or "reply", e["msg"]) for e in error.errors(include_url=False)]
    return "; ".join(f"{place}: {message}" for place, message in places[:5])
