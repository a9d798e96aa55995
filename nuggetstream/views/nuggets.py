"""How the nugget list of a battle came about, as JSON."""

from datetime import datetime

from nuggetstream.domain.nugget import Importance, MergedNugget
from nuggetstream.domain.nugget_edit import EditKind, LabelChange
from nuggetstream.nuggets.history import Rewording
from nuggetstream.views.common import View


class NuggetBankView(View):
    """The list of a nugget bank that a battle uses. Battles with the same query and evidence share a bank."""

    bank: str
    version: int
    """Number of the list in its bank, from 1."""


class NuggetStepView(View):
    """One step of the creation of a nugget list, and what it changed."""

    documents: list[str]
    """The documents read in this step: "answer:a", "answer:b", "answer:other" or ids of chunks."""
    added: list[str]
    reworded: list[Rewording]
    dropped: list[str]
    merged: list[MergedNugget]


class NuggetChangeView(View):
    """What one operation of an edit changed."""

    op: EditKind
    before: list[str]
    """Texts of the nuggets that it changed; empty for an added one."""
    after: str | None
    """Text of the nugget that is there now; null where it was deleted."""
    importance: Importance | None
    """Its importance now; null where it was deleted."""
    model: str | None = None
    """Model that labels all nuggets again; null for the assigner's own, and for other operations."""
    label: LabelChange | None = None
    """The label that a person corrected; null for other operations."""


class NuggetEditView(View):
    """An edit of the nugget list of a battle by a person."""

    version: int
    """Version of the list that it made."""
    based_on: int
    """Version of the list that it changed."""
    author: str
    reason: str
    changes: list[NuggetChangeView]
    edited_at: datetime
    left: NuggetBankView | None = None
    """The shared list that it changed, which stays as it is; null for a list of this battle alone."""
