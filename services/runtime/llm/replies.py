"""The shapes of replies, one per task.

Only enums and ids decide anything; free text is only shown. Extra keys are ignored when a reply is read,
because models without structured outputs add some. The schema sent to the model forbids them, as strict
mode requires.

A model is paid and waited for by the token, so lists are lists of short lines and not of objects: `n3 p 5`
instead of an id, a label and a copied sentence by name. An object with the same fields is read, too.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

EXAMPLE = "One fact in a short sentence."  # of a nugget; small models list it among theirs
_ID_LIMIT = 40  # characters of an id that a message quotes
_KEPT = re.compile(r"n(\d{1,6})(?:\s?[-–]\s?n?(\d{1,6}))?")
_NAMED = re.compile(r"^\s*n\d{1,6}:\s+")  # a text that has its ID before it


def _as_enum(value: object) -> object:
    """Normalise spellings such as "Partial Support" to partial_support, and letters to words."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace(" ", "_").replace("-", "_")
    return _LETTERS.get(word, word)


_LETTERS = {
    "v": "vital",
    "o": "okay",
    "s": "support",
    "p": "partial_support",
    "n": "not_support",
    "c": "contradiction",
    "contradicts": "contradiction",
    "contradicted": "contradiction",
}
ImportanceLabel = Annotated[Literal["vital", "okay"], BeforeValidator(_as_enum)]
SupportLabel = Annotated[
    Literal["support", "partial_support", "not_support", "contradiction"], BeforeValidator(_as_enum)
]
Winner = Annotated[Literal["first", "second", "tie"], BeforeValidator(_as_enum)]


class Reply(BaseModel):
    """The shape of a reply.

    Attributes:
        form: How to write its lines; part of every prompt that asks for it, whatever its instructions say.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})
    form: ClassVar[str] = ""


class Line(BaseModel):
    """An item of a list, written as one line of text."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)
    pattern: ClassVar[re.Pattern[str]]
    example: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = cls.pattern.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"not a line like {cls.example!r}")
        return {name: part for name, part in match.groupdict().items() if part is not None}

    @model_serializer(mode="wrap")
    def _write(self, as_object: SerializerFunctionWrapHandler) -> str | dict[str, Any]:
        """The item as a line, or as an object where a line would not be read as the same item.

        A reply that has objects in place of lines may have values that no line can have.
        """
        line = self.line()
        try:
            if type(self).model_validate(line) == self:
                return line
        except ValidationError:
            pass
        fields: dict[str, Any] = as_object(self)
        return fields

    @abstractmethod
    def line(self) -> str:
        """The item as a line."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "description": f"such as {cls.example!r}"}


def _words(value: object) -> object:
    return re.findall(r"[^\s,]+", value) if isinstance(value, str) else value


class CreatedNugget(Line):
    """One fact that a good answer needs, its importance, and the ids of the blocks that state it."""

    pattern = re.compile(
        r"(?P<importance>\w+)(?P<sources>(?:[ \t,]+[\w.-]+){0,200})[ \t]*:\s*(?P<text>.*)", re.DOTALL
    )
    example = f"v a1 c3: {EXAMPLE}"

    text: str
    importance: ImportanceLabel
    sources: Annotated[list[str], BeforeValidator(_words)] = []

    def line(self) -> str:
        """The item as a line."""
        return f"{' '.join([self.importance[0], *self.sources])}: {self.text}"


class NuggetsReply(Reply):
    """Reply to task `nuggets`: the facts of all documents at once.

    The form has no example: after a long prompt, small models list it in place of facts. A model whose server
    takes no schema sees the one in the schema.
    """

    form = (
        "Write each nugget as one line: v for vital or o for okay, then the IDs of all documents that state "
        "it, then a colon and the fact."
    )
    nuggets: list[CreatedNugget]


class WindowReply(Reply):
    """Reply to task `nuggets_window`: the whole list, rewritten after one window of documents.

    A nugget that stays as it is has its ID in the list instead of its text, and consecutive ones a range.
    """

    form = (
        "Write a nugget that stays as it is as its ID alone, consecutive ones as a range, and every other "
        'one as its text; IDs, for example: "n1-n4", "n6"'
    )
    nuggets: list[str]

    def texts(self, shown: Sequence[str]) -> list[str]:
        """The texts of the new list.

        Args:
            shown: The nuggets that the prompt showed, n1 first.

        Raises:
            ValueError: The list names a nugget that the prompt did not show.

        >>> WindowReply(nuggets=["n2-n3", "New.", "n1: Reworded."]).texts(["One.", "Two.", "Three."])
        ['Two.', 'Three.', 'New.', 'Reworded.']
        """
        texts, unknown = list[str](), list[str]()
        for item in self.nuggets:
            if (named := _KEPT.fullmatch(item.strip())) is None:
                texts.append(_NAMED.sub("", item))
                continue
            first, last = int(named[1]), int(named[2] or named[1])
            if 1 <= first <= last <= len(shown):
                texts += shown[first - 1 : last]
            else:
                unknown.append(item.strip()[:_ID_LIMIT])
        if unknown:
            raise ValueError(f"unknown ids: {', '.join(unknown[:20])}")
        return texts


class NuggetImportance(Line):
    """Importance of one nugget."""

    pattern = re.compile(r"(?P<id>\S+)[ \t:]+(?P<importance>\w+)")
    example = "n1 v"

    id: str
    importance: ImportanceLabel

    def line(self) -> str:
        """The item as a line."""
        return f"{self.id} {self.importance[0]}"


class ImportanceReply(Reply):
    """Reply to task `importance`: a label for every nugget."""

    form = "Write each label as one line: the ID of the nugget and v or o; for example: n1 v"
    labels: list[NuggetImportance]


class NuggetSupport(Line):
    """Whether the answer states or contradicts one nugget, and the first and last sentence that do.

    Both are None where they are unknown, and where no sentence does; the last is None where it is the first.
    """

    pattern = re.compile(
        r"(?P<id>[^\s:]+)[ \t:]+(?P<label>[A-Za-z_]+(?: [A-Za-z_]+)?)"
        r"(?:[ \t:]+#?(?P<first>\d{1,6})(?:\s?[-–]\s?#?(?P<last>\d{1,6}))?)?"
    )
    example = "n1 s 3"

    id: str
    label: SupportLabel
    first: int | None = None
    last: int | None = None

    @field_validator("last")
    @classmethod
    def _only_if_another(cls, last: int | None, read: ValidationInfo) -> int | None:
        """The last of several sentences; None where it is the first, as a line has it."""
        return None if last == read.data.get("first") else last

    def line(self) -> str:
        """The item as a line."""
        words = [self.id, self.label[0]]
        if self.first is not None:
            words.append(str(self.first) if self.last is None else f"{self.first}-{self.last}")
        return " ".join(words)


class AssignmentReply(Reply):
    """Reply to task `assignment`: a label for every nugget."""

    form = (
        "Write each label as one line: the ID of the nugget, then s, p or n, then, for s and p, the number "
        "of the sentence that states it, or the first and last of several; for example: n1 s 3, n2 p 4-5, "
        "n3 n"
    )
    labels: list[NuggetSupport]


class FourLabelsReply(AssignmentReply):
    """The same where a contradiction is a label of its own, as in every profile but that of the paper."""

    form = (
        "Write each label as one line: the ID of the nugget, its letter and, but for n, the number of the "
        "sentence, or the first and last of several; for example: n1 s 3, n2 p 4-5, n3 n, n4 c 2"
    )


class AnswerReply(Reply):
    """Reply to task `answer`: the answer to a query, with marks of the chunks that state it."""

    answer: str


class VerdictReply(Reply):
    """Reply to task `verdict`: the reasons come first, so that the winner follows from them."""

    reasoning: str
    winner: Winner


def every_id_once(actual: Iterable[str], expected: Iterable[str]) -> None:
    """Check that a reply labels exactly the nuggets it was asked about, each once.

    Raises:
        ValueError: Ids are missing, unknown or repeated; the message names them.
    """
    counts, required = Counter(actual), set(expected)
    problems = {
        "missing": sorted(required - set(counts)),
        "unknown": sorted(set(counts) - required),
        "repeated": sorted(name for name, count in counts.items() if count > 1),
    }
    messages = [
        f"{problem} ids: {', '.join(name[:_ID_LIMIT] for name in ids[:20])}"
        for problem, ids in problems.items()
        if ids
    ]
    if messages:
        raise ValueError("; ".join(messages))
