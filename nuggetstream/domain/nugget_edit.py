"""Edits of nugget lists by people: what they ask for, and what an edit changed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import BankVersion, Importance, Support


class EditKind(StrEnum):
    """What an operation of an edit does."""

    ADD = "add"
    MERGE = "merge"
    REWORD = "reword"
    IMPORTANCE = "importance"
    DELETE = "delete"
    REASSIGN = "reassign"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class AddNugget:
    """Adds a nugget."""

    op: Literal[EditKind.ADD]
    text: str
    importance: Importance


@dataclass(frozen=True, slots=True)
class MergeNuggets:
    """Makes one nugget of several. It has the provenance of all of them, and is vital if one of them is.

    Attributes:
        nuggets: Ids of the nuggets; the first one stays, and the others are left out.
        text: Its new text; None keeps the text of the first.
    """

    op: Literal[EditKind.MERGE]
    nuggets: tuple[str, ...]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RewordNugget:
    """Words a nugget anew."""

    op: Literal[EditKind.REWORD]
    nugget: str
    text: str


@dataclass(frozen=True, slots=True)
class SetImportance:
    """Makes a nugget vital or okay."""

    op: Literal[EditKind.IMPORTANCE]
    nugget: str
    importance: Importance


@dataclass(frozen=True, slots=True)
class DeleteNugget:
    """Leaves a nugget out."""

    op: Literal[EditKind.DELETE]
    nugget: str


@dataclass(frozen=True, slots=True)
class ReassignNuggets:
    """Labels all nuggets again.

    Attributes:
        model: Model to ask, at the endpoint of the assigner; None asks the assigner's own.
    """

    op: Literal[EditKind.REASSIGN]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class SetLabel:
    """Corrects the label of a nugget for one answer. To set what the model said withdraws a correction.

    Attributes:
        nugget: Id of the nugget.
        answer: The answer: "a" or "b".
        to: Its label.
    """

    op: Literal[EditKind.LABEL]
    nugget: str
    answer: Side
    to: Support


Operation: TypeAlias = (
    AddNugget | MergeNuggets | RewordNugget | SetImportance | DeleteNugget | ReassignNuggets | SetLabel
)


@dataclass(frozen=True, slots=True)
class NuggetEdit:
    """An edit as a person asks for it.

    Attributes:
        version: Version of the list that the person saw.
        author: Who edits.
        reason: Why.
        operations: What to change, in order.
    """

    version: int
    author: str
    reason: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class LabelChange:
    """The label of a nugget for one answer, before and after an operation."""

    answer: Side
    before: Support
    after: Support


@dataclass(frozen=True, slots=True)
class NuggetChange:
    """What one operation changed, in words that do not need the list.

    Attributes:
        op: Kind of the operation.
        before: Texts of the nuggets that it changed; none for an added one.
        after: Text of the nugget that is there now; None where it was deleted.
        importance: Its importance now; None where it was deleted.
        model: Model that labels all nuggets again; None for the assigner's own, and for other operations.
        label: The label that a person corrected; None for other operations.
    """

    op: EditKind
    before: tuple[str, ...]
    after: str | None
    importance: Importance | None
    model: str | None = None
    label: LabelChange | None = None


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """An edit that was accepted.

    Attributes:
        version: Version of the list that it made, from 2.
        based_on: Version of the list that it changed.
        author: Who edited.
        reason: Why.
        changes: What it changed.
        edited_at: When it was accepted.
        left: The list of a nugget bank that it changed, which stays as it is; None for a list of this battle
            alone.
    """

    version: int
    based_on: int
    author: str
    reason: str
    changes: tuple[NuggetChange, ...]
    edited_at: datetime
    left: BankVersion | None = None
