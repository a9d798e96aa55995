"""An edit of a nugget list as clients send it: checked once, with errors that name the field."""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nuggetstream.domain.nugget_edit import (
    AddNugget,
    MergeNuggets,
    NuggetEdit,
    Operation,
    ReassignNuggets,
    RewordNugget,
)
from nuggetstream.files.fields import Name, Text

MOST_OPERATIONS = 200
_MOST_LETTERS = 2_000
_LONGEST_MODEL = 100


def one_line(text: str) -> str:
    """A text of one line: white space of any kind becomes a space.

    Raises:
        ValueError: The text is empty, too long, or contains a character that cannot be stored.
    """
    line = " ".join(text.split())
    if not line:
        raise ValueError("is empty")
    if len(line) > _MOST_LETTERS:
        raise ValueError(f"has {len(line):,} characters; at most {_MOST_LETTERS:,} are accepted")
    if "\x00" in line or any("\ud800" <= character <= "\udfff" for character in line):
        raise ValueError("contains a character that cannot be stored")
    return line


def _clean(operation: Operation) -> Operation:
    match operation:
        case AddNugget(text=str(text)) | RewordNugget(text=str(text)) | MergeNuggets(text=str(text)):
            try:
                return replace(operation, text=one_line(text))
            except ValueError as error:
                raise ValueError(f"the text {error}") from None
        case ReassignNuggets(model=str(model)):
            try:
                name = one_line(model)
            except ValueError as error:
                raise ValueError(f"the model {error}") from None
            if len(name) > _LONGEST_MODEL:
                raise ValueError(
                    f"the model has {len(name)} characters; at most {_LONGEST_MODEL} are accepted"
                )
            return replace(operation, model=name)
        case _:
            return operation


def _some(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    if not operations:
        raise ValueError("there is nothing to change")
    return operations


class NuggetEditSubmission(BaseModel):
    """An edit of the nugget list of a battle by a person."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    version: Annotated[int, Field(ge=1)]
    """Version of the list that the edit is based on, `nugget_version` of the battle."""
    author: Name
    """Who edits."""
    reason: Annotated[Text, Field(max_length=_MOST_LETTERS), AfterValidator(one_line)]
    """Why."""
    operations: Annotated[
        tuple[Annotated[Operation, Field(discriminator="op"), AfterValidator(_clean)], ...],
        Field(max_length=MOST_OPERATIONS),
        AfterValidator(_some),
    ]
    """What to change, in order. Nuggets are named by the ids that they have in this version."""

    def to_core(self) -> NuggetEdit:
        """The edit as the platform makes it."""
        return NuggetEdit(
            version=self.version, author=self.author, reason=self.reason, operations=self.operations
        )
