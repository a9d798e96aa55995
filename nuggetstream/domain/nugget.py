"""Nuggets, the atomic facts a good answer needs, and the labels that say which answer states which."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nuggetstream.domain.battle import Side


class Importance(StrEnum):
    """Must a good answer state the nugget (vital), or is it only good to have (okay)?"""

    VITAL = "vital"
    OKAY = "okay"


class Support(StrEnum):
    """Does an answer state the nugget, or does it state something that cannot be true together with it?"""

    SUPPORT = "support"
    PARTIAL_SUPPORT = "partial_support"
    NOT_SUPPORT = "not_support"
    CONTRADICTION = "contradiction"


UNSTATED = frozenset(
    {Support.NOT_SUPPORT, Support.CONTRADICTION}
)  # labels of answers that do not state the nugget


ANSWERS = "answer:"  # how the document of an answer begins
# The document of a nugget that was read in an answer of another battle, whose list this battle shares.
OTHER_ANSWER = "answer:other"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a nugget was read: an answer, or a chunk of a page.

    Attributes:
        document: "answer:a", "answer:b", `OTHER_ANSWER` or the id of a chunk.
        url: Address of the page; None for an answer.
        content_hash: Hash of the page's text as it was read; None for an answer.
        fetched_at: When the page was fetched; None for an answer and for supplied text.
    """

    document: str
    url: str | None = None
    content_hash: str | None = None
    fetched_at: datetime | None = None


class Grounding(StrEnum):
    """Does a source state a nugget, or only an answer?"""

    GROUNDED = "grounded"  # a source states it
    ANSWER_ONLY = "answer-only"  # an answer states it, and no source that was read
    DISPUTED = "disputed"  # a source contradicts it, or the other answer does and no source states it


@dataclass(frozen=True, slots=True)
class Quotation:
    """The passage that shows the grounding of a nugget.

    Attributes:
        document: "answer:a", "answer:b" or the id of a chunk.
        text: The sentence that states the nugget; of a disputed nugget, the sentence that contradicts it.
        url: Address of the page; None for an answer, and for a page without one.
    """

    document: str
    text: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Grounds:
    """The grounding of a nugget, with the passage that shows it.

    Attributes:
        grounding: Whether a source states the nugget.
        quotation: The passage; None where no sentence could be named.
    """

    grounding: Grounding
    quotation: Quotation | None = None


@dataclass(frozen=True, slots=True)
class Nugget:
    """One atomic fact.

    Attributes:
        id: Its id.
        text: The fact in words.
        importance: Vital or okay.
        provenance: The documents in which it was read.
        grounds: Its grounding; None where that is not known.
        vital_probability: How probable it is, according to the model, that the nugget is vital; None where
            the importance was not decided, or not with probabilities.
    """

    id: str
    text: str
    importance: Importance
    provenance: tuple[Provenance, ...] = ()
    grounds: Grounds | None = None
    vital_probability: float | None = None

    @property
    def grounding(self) -> Grounding | None:
        """Whether a source states the nugget; None where that is not known."""
        return None if self.grounds is None else self.grounds.grounding

    @property
    def is_disputed(self) -> bool:
        """Whether a source contradicts it, or the other answer does and no source states it."""
        return self.grounding is Grounding.DISPUTED

    @property
    def is_unconfirmed(self) -> bool:
        """Whether only an answer states it, or it is disputed: an answer without it misses no known fact."""
        return self.grounding in (Grounding.ANSWER_ONLY, Grounding.DISPUTED)


def vital_first(nuggets: Iterable[Nugget]) -> tuple[Nugget, ...]:
    """The nuggets with the vital ones first, otherwise in their order."""
    return tuple(sorted(nuggets, key=lambda nugget: nugget.importance is not Importance.VITAL))


@dataclass(frozen=True, slots=True)
class MergedNugget:
    """A nugget that was left out because another one of the list states the same fact.

    Attributes:
        text: Its text.
        into: Text of the nugget that has its provenance now.
    """

    text: str
    into: str


@dataclass(frozen=True, slots=True)
class Revision:
    """The nugget list after one step of its creation.

    Attributes:
        documents: Ids of the documents read in this step.
        texts: Texts of the whole list after the step.
        merged: Nuggets that the step merged into others; none in the paper profile.
    """

    documents: tuple[str, ...]
    texts: tuple[str, ...]
    merged: tuple[MergedNugget, ...] = ()


@dataclass(frozen=True, slots=True)
class BankVersion:
    """Which list of which nugget bank a battle uses.

    Attributes:
        bank: Id of the bank, which battles with the same query and the same evidence share.
        version: Number of the list in its bank, from 1. It grows when an answer brings new facts.
    """

    bank: str
    version: int


@dataclass(frozen=True, slots=True)
class NuggetList:
    """The nuggets of one battle and how they were created.

    Attributes:
        nuggets: The nuggets, vital ones first.
        history: One revision per step, oldest first.
        profile: "paper" or "live".
        sources: Which documents were read: "both", "answers" or "chunks".
        model: Chat model that created the nuggets.
        prompt_version: Version of the creation prompt.
        bank: The list of a nugget bank that this is; None for a list of this battle alone.
        edit: Number of the edit by people that made this list; 0 for the list as it was created.
    """

    nuggets: tuple[Nugget, ...]
    history: tuple[Revision, ...]
    profile: str
    sources: str
    model: str
    prompt_version: str
    bank: BankVersion | None = None
    edit: int = 0

    @property
    def version(self) -> int:
        """Number of the list among those of its battle: 1 as it was created, and one more with each edit."""
        return self.edit + 1

    @property
    def has_read_sources(self) -> bool:
        """Whether the list was created from sources, too, and not from the answers alone."""
        read = (document for revision in self.history for document in revision.documents)
        return any(not document.startswith(ANSWERS) for document in read)


@dataclass(frozen=True, slots=True)
class SupportProbabilities:
    """How probable each label of a nugget is according to the model; together 1.

    Attributes:
        support: Of support.
        partial_support: Of partial support.
        not_support: Of no support.
        contradiction: Of a contradiction; None where the model was not asked for it.
    """

    support: float
    partial_support: float
    not_support: float
    contradiction: float | None = None


@dataclass(frozen=True, slots=True)
class ModelLabel:
    """A label as the model gave it; the fields are those of `Assignment`."""

    support: Support
    quote: str | None = None
    probabilities: SupportProbabilities | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """How a person came to set a label.

    Attributes:
        author: Who set it.
        reason: Why.
        model: What the model had said.
    """

    author: str
    reason: str
    model: ModelLabel


@dataclass(frozen=True, slots=True)
class Assignment:
    """The label of one nugget for one answer.

    Attributes:
        nugget_id: The nugget.
        side: The answer.
        support: The label.
        quote: The sentence of the answer that states or contradicts it; None when no sentence was named.
        probabilities: Of the labels; None when the model did not tell, and where a person set the label.
        correction: Who set the label, and what the model had said; None for a label of the model.
    """

    nugget_id: str
    side: Side
    support: Support
    quote: str | None = None
    probabilities: SupportProbabilities | None = None
    correction: Correction | None = None

    @property
    def by_model(self) -> ModelLabel:
        """The label as the model gave it, whoever set it since."""
        if self.correction is not None:
            return self.correction.model
        return ModelLabel(self.support, self.quote, self.probabilities)

    @property
    def shares(self) -> SupportProbabilities | None:
        """The probabilities that count: a label that a person set is certain. None when they are unknown."""
        if self.correction is None:
            return self.probabilities
        return SupportProbabilities(**{label.value: float(label is self.support) for label in Support})


@dataclass(frozen=True, slots=True)
class AssignmentSet:
    """All labels of one battle: exactly one per nugget and side."""

    assignments: tuple[Assignment, ...]
    model: str
    prompt_version: str


class Cause(StrEnum):
    """Why an answer misses a nugget."""

    GENERATION = "generation"  # one of its own sources states it, but the answer does not use it
    RETRIEVAL = "retrieval"  # a source states it, but none of the answer's own sources
    UNSOURCED = "unsourced"  # no source that was read states it, only an answer does
