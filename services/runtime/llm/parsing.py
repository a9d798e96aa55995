"""Parse a reply strictly, never by guessing.

Accepted is a reply that is JSON and nothing else, with or without a code fence, and a bare list where the
reply has a single field. Reasoning between tags (see `text.reasoning`) is not part of the reply. Prose around
the JSON is not accepted, in any language: it may quote an object that a stranger wrote, and no rule tells
that from the model's own. The model is then asked again for the JSON alone.

A reply is decoded once, so parsing takes time linear in its length.
"""

import json
from typing import Any, cast

from pydantic import ValidationError

from nuggetstream.text.reasoning import parted
from services.runtime.llm.decisions.logprobs import with_probabilities
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.endpoint import Completion
from services.runtime.llm.prompt import Prompt, R

_FENCE = "```"


class Unusable(Exception):
    """A reply that cannot be used. The message says why, so that the model can repair it."""


def read_completion(completion: Completion, prompt: Prompt[R]) -> R:
    """The value in a completion, as `read_reply`; a decision with the probabilities that its tokens tell."""
    value = read_reply(completion.text, prompt)
    if isinstance(value, DecisionReply) and completion.spelled:
        return cast(R, with_probabilities(value, completion.text, completion.spelled, prompt.questions))
    return value


def read_reply(text: str, prompt: Prompt[R]) -> R:
    """The value in a reply, validated against the prompt's shape and its check.

    Raises:
        Unusable: The reply is not valid JSON of that shape, or is more than that.
    """
    text = body_of(text)
    try:
        decoded = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unusable("it is not one complete JSON value without any other text") from error
    fields = list(prompt.reply.model_fields)
    if isinstance(decoded, list) and len(fields) == 1:
        decoded = {fields[0]: decoded}
    return _validated(decoded, prompt)


def body_of(text: str) -> str:
    """A reply without reasoning and code fence.

    Raises:
        Unusable: It ends before its reasoning does.
    """
    return _unfenced(_without_thoughts(text).strip())


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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are not repeated with different values."""
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value and value[key] != item:
            raise Unusable("a key of an object is repeated with another value")
        value[key] = item
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _without_thoughts(text: str) -> str:
    """The text without the reasoning that some models put between tags before their reply."""
    parts = parted(text)
    if not parts.complete:
        raise Unusable("it ends before its reasoning does")
    return parts.answer


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
