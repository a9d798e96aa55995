"""What can be used of a reply, and the second request: for all of it, or for the lines that are missing."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Generic

from pydantic import ValidationError

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Permanent
from services.runtime.llm.dialect import ModelRequest
from services.runtime.llm.endpoint import Completion
from services.runtime.llm.lines import field_of, items_of
from services.runtime.llm.parsing import Unusable, body_of, read_completion
from services.runtime.llm.prompt import Prompt, R, repair_messages, schema_of

_LARGER = 2  # factor by which the token limit grows after a reply was cut off
_NOTED = 10_000  # replies
_CUT = ("length", "repetition")


class Discarded(Exception):
    """A reply that was paid for and cannot be used as it is."""

    def __init__(self, completion: Completion, problem: str) -> None:
        super().__init__(problem)
        self.completion = completion

    def follow_up(
        self, request: ModelRequest, prompt: Prompt[R], partial: "Partial[R] | None"
    ) -> ModelRequest:
        """The second request: with a larger token limit after a cut, else with the problem named."""
        if partial is not None:
            schema, missing = partial.rest.schema(), partial.missing
        elif self.completion.finish == "length":
            return replace(request, max_tokens=request.max_tokens * _LARGER)
        else:
            schema, missing = prompt.schema(), ()
        repair = repair_messages(request.messages, self.completion.text, str(self), schema, missing)
        return replace(request, messages=repair, schema=schema, questions=())  # repaired by chat


class UnusableReplies:
    """The latest replies that could neither be used nor repaired.

    A model that writes the same again will do so at every retry; each would be paid for.
    """

    def __init__(self) -> None:
        self._replies = OrderedDict[str, int]()

    def check(self, key: str, reply: Discarded) -> None:
        """Check a reply to the prompt with this key.

        Raises:
            Permanent: It is the same as the last one to this prompt that no second request could repair.
        """
        if self._replies.get(key) == hash(reply.completion.text):
            detail = "the model writes the same unusable reply again"
            raise Permanent(Reason.REPLY_UNUSABLE, detail, admin_detail=str(reply)) from reply

    def add(self, key: str, reply: Discarded) -> None:
        """Add the first reply to the prompt with this key, which no second request could repair."""
        self._replies[key] = hash(reply.completion.text)
        if len(self._replies) > _NOTED:
            self._replies.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Partial(Generic[R]):
    """The lines of a reply that can be used.

    Attributes:
        prompt: What was asked.
        field: Name of the list of lines.
        kept: The lines, by the ids that they are about.
        missing: Ids without a line.
    """

    prompt: Prompt[R]
    field: str
    kept: dict[str, Any]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, prompt: Prompt[R], completion: Completion) -> "Partial[R] | None":
        """What can be kept of a reply; None where nothing can, or where nothing is missing.

        An id with two different lines has none.
        """
        lines = prompt.lines
        if lines is None or not lines.ids or prompt.questions:  # kept answers would have no probabilities
            return None
        field, usable = _usable_lines(prompt, completion)
        by_id = dict[str, list[Any]]()
        for line in usable:
            if line not in by_id.setdefault(_id_of(line), []):
                by_id[_id_of(line)].append(line)
        kept = {name: of_id[0] for name, of_id in by_id.items() if len(of_id) == 1}
        missing = tuple(name for name in lines.ids if name not in kept)
        return cls(prompt, field, kept, missing) if kept and missing else None

    @property
    def rest(self) -> Prompt[R]:
        """The prompt with a reply that has the missing lines alone."""
        lines = None if self.prompt.lines is None else self.prompt.lines.of(self.missing)
        return replace(self.prompt, lines=lines, check=None)

    def completed(self, completion: Completion) -> R:
        """The kept lines and those of the second reply, which may repeat kept ones.

        Raises:
            Unusable: Together they are no reply to the prompt.
        """
        rest = read_completion(completion, self.rest)
        new = [line for line in getattr(rest, self.field) if _id_of(line) not in self.kept]
        value = rest.model_copy(update={self.field: [*self.kept.values(), *new]})
        if self.prompt.check is not None:
            try:
                self.prompt.check(value)
            except ValueError as error:
                raise Unusable(str(error)) from error
        return value


def before_repetition(prompt: Prompt[R], completion: Completion) -> R | None:
    """The list that a model wrote before it began to repeat itself; None where that is no reply.

    Only a list of any length is: of one with a line for each id, lines are missing.
    """
    if prompt.lines is None or prompt.lines.ids:
        return None
    field, lines = _usable_lines(prompt, completion)
    distinct = [line for index, line in enumerate(lines) if line not in lines[:index]]
    if not distinct or len(distinct) < prompt.lines.least:
        return None
    try:
        value = prompt.reply.model_validate({field: [line.line() for line in distinct]})
        if prompt.check is not None:
            prompt.check(value)
    except ValueError:
        return None
    return value


def _usable_lines(prompt: Prompt[R], completion: Completion) -> tuple[str, list[Any]]:
    """Name of the list of a reply, and its complete lines that have the form."""
    field, _ = field_of(schema_of(prompt.reply))
    lines = list[Any]()
    try:
        items = items_of(body_of(completion.text), field, is_cut=completion.finish in _CUT)
    except Unusable:
        return field, lines
    for item in items:
        try:
            [line] = getattr(prompt.reply.model_validate({field: [item]}), field)
        except ValidationError:
            continue
        if prompt.lines is not None and prompt.lines.allow(line.line()):
            lines.append(line)
    return field, lines


def _id_of(line: Any) -> str:
    """What a line is about, which is its first field."""
    return str(getattr(line, next(iter(type(line).model_fields))))
