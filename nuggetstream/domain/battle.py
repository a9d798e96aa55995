"""A battle: one query, two answers, the sources behind them, sometimes a human vote."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from nuggetstream.domain.identity import derived_id


class Side(StrEnum):
    """Which of the two answers."""

    A = "a"
    B = "b"

    @property
    def other(self) -> "Side":
        """The opponent."""
        return Side.B if self is Side.A else Side.A


class Vote(StrEnum):
    """A preference between the two answers, human or computed."""

    A = "a"
    B = "b"
    TIE = "tie"
    BOTH_BAD = "both_bad"


@dataclass(frozen=True, slots=True)
class Source:
    """A page a system searched or cited.

    Attributes:
        url: where it was found; also the identity of a source that comes with its text.
        title: as the system showed it; may be empty.
        text: the page's text where the arena already has it; None means "fetch it".
    """

    url: str
    title: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system said, and the sources behind it."""

    system: str
    text: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Battle:
    """Two systems answering one query.

    Attributes:
        id: unique in the whole installation; chosen by the arena, else derived from the content.
        arena: the leaderboard this battle counts for.
        query: the user's question.
        a: the answer shown first.
        b: the answer shown second.
        language: BCP 47 tag such as "de"; empty when unknown.
        tags: free labels ("category:science") by which boards can be sliced.
    """

    id: str
    arena: str
    query: str
    a: Answer
    b: Answer
    language: str = ""
    tags: tuple[str, ...] = ()

    def answer(self, side: Side) -> Answer:
        """The answer of one side."""
        return self.a if side is Side.A else self.b

    def sides_citing(self, url: str) -> tuple[Side, ...]:
        """The sides whose own sources name this URL."""
        return tuple(side for side in Side if any(s.url == url for s in self.answer(side).sources))

    def content_hash(self) -> str:
        """Identity of everything but the id: the same id with another hash is a conflict."""
        content = asdict(self)
        del content["id"]
        return derived_id(content)

    def without_source_texts(self) -> "Battle":
        """The battle as later stages carry it: page texts live in the page store, not in messages."""
        return replace(self, a=_lighten(self.a), b=_lighten(self.b))


def _lighten(answer: Answer) -> Answer:
    return replace(answer, sources=tuple(replace(source, text=None) for source in answer.sources))
