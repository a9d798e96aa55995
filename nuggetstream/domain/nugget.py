"""Nuggets: the atomic facts a good answer needs, and which answer states which."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nuggetstream.domain.battle import Side


class Importance(StrEnum):
    """Must a good answer state it (vital), or is it merely good to have (okay)?"""

    VITAL = "vital"
    OKAY = "okay"


class Support(StrEnum):
    """Does an answer state the nugget?"""

    SUPPORT = "support"
    PARTIAL_SUPPORT = "partial_support"
    NOT_SUPPORT = "not_support"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a nugget was read: an answer, or a chunk of a page.

    Attributes:
        document: "answer:a", "answer:b" or a chunk id.
        url: of the page; empty for an answer.
        content_hash: of the page's text as it was seen; empty for an answer.
        fetched_at: when it was seen; None for an answer or supplied text.
    """

    document: str
    url: str = ""
    content_hash: str = ""
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Nugget:
    """One atomic fact."""

    id: str
    text: str
    importance: Importance
    provenance: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """The list after one step of its making.

    Attributes:
        documents: ids of the documents read in this step.
        texts: the whole list after it.
    """

    documents: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NuggetList:
    """The nuggets of one battle and how they came about.

    Attributes:
        nuggets: vital ones first.
        history: one revision per step, oldest first.
        profile: "paper" or "live".
        sources: which documents were read: "both", "answers" or "chunks".
        model: that created them.
        prompt_version: of the creation prompt.
    """

    nuggets: tuple[Nugget, ...]
    history: tuple[Revision, ...]
    profile: str
    sources: str
    model: str
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """Whether one answer states one nugget, with the sentence that does."""

    nugget_id: str
    side: Side
    support: Support
    quote: str = ""


@dataclass(frozen=True, slots=True)
class AssignmentSet:
    """All assignments of one battle: every nugget once per side, or the stage fails."""

    assignments: tuple[Assignment, ...]
    model: str
    prompt_version: str


class Cause(StrEnum):
    """What is to blame that an answer misses a nugget."""

    GENERATION = "generation"  # one of its own sources states it: found, not used
    RETRIEVAL = "retrieval"  # a source states it, but none of its own: not found
    UNSOURCED = "unsourced"  # no source that was read states it, only an answer does
