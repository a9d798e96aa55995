"""A battle: one query, two answers and the sources behind them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from nuggetstream.domain.conversation import Context, Turns, context_of, searched, user_turns
from nuggetstream.domain.identity import derived_id


class Side(StrEnum):
    """One of the two answers of a battle."""

    A = "a"
    B = "b"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.B if self is Side.A else Side.A


class Vote(StrEnum):
    """A preference between the two answers, human or computed."""

    A = "a"
    B = "b"
    TIE = "tie"
    BOTH_BAD = "both_bad"

    @property
    def is_tie(self) -> bool:
        """Whether neither answer is preferred."""
        return self in (Vote.TIE, Vote.BOTH_BAD)

    @property
    def preference(self) -> "Vote":
        """A, B or a tie: whether both answers are bad is left out."""
        return Vote.TIE if self.is_tie else self

    @property
    def points(self) -> float:
        """Points that A takes from B: 1, a half for a tie, or 0."""
        return 0.5 if self.is_tie else float(self is Vote.A)

    @property
    def swapped(self) -> "Vote":
        """The same preference where the answers change places."""
        return self if self.is_tie else Vote.B if self is Vote.A else Vote.A


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage of a page that an answer cites, in words, as a range, or both.

    Attributes:
        snippet: Its words; None when none came with it.
        start: Its first character in the text of the page as the system read it, from 0; None when unknown.
        end: The character after its last one; None when unknown.
    """

    snippet: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a system searched or cited.

    Attributes:
        url: Address of the page; it identifies the source even where the text is supplied.
        title: Title as the system showed it; None when it showed none.
        text: Text of the page where the arena supplies it; None means that the scraper fetches it.
        snippet: The cited passage in the words of whoever sent the battle; None when none came with it. It is
            no evidence: only the text of the page can show that the page says it.
        start: First character of the cited passage in the text of the page as the system read it, from 0;
            None when unknown.
        end: The character after its last one; None when unknown.
        passages: Further cited passages, in the order in which they came.
    """

    url: str
    title: str | None = None
    text: str | None = None
    snippet: str | None = None
    start: int | None = None
    end: int | None = None
    passages: tuple[CitedPassage, ...] = ()

    @property
    def cited(self) -> tuple[CitedPassage, ...]:
        """All cited passages, in the order in which they came."""
        if self.snippet is None and self.start is None:
            return self.passages
        return (CitedPassage(self.snippet, self.start, self.end), *self.passages)

    def citing(self, passages: Iterable[CitedPassage]) -> "Source":
        """The source with these cited passages. One that is there twice is kept once."""
        first, *further = list(dict.fromkeys(passages)) or [CitedPassage()]
        return replace(self, snippet=first.snippet, start=first.start, end=first.end, passages=tuple(further))


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system answered, and the sources behind it.

    Attributes:
        system: Name of the system.
        text: What it answered to the query.
        sources: The pages that it searched or cited.
        conversation: The turns before the query as this system had them, oldest first; empty where both
            systems had the same, or none.
        reasoning: What it wrote for itself, which is no part of its answer; None where it is not known.
    """

    system: str
    text: str
    sources: tuple[Source, ...] = ()
    conversation: Turns = ()
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Battle:
    """Two systems answering one query.

    Attributes:
        id: Unique in the whole installation; chosen by the arena, else derived from the content.
        arena: Arena whose leaderboards this battle counts for.
        query: The user's question: the last turn of the user, where there was a conversation.
        a: The answer shown first.
        b: The answer shown second.
        language: BCP 47 tag such as "de"; None when unknown.
        tags: Free labels such as "category:science", by which boards can be filtered.
        conversation: The turns before the query, oldest first, where both systems had the same; empty where
            there are none, or where each answer has its own.
    """

    id: str
    arena: str
    query: str
    a: Answer
    b: Answer
    language: str | None = None
    tags: tuple[str, ...] = ()
    conversation: Turns = ()

    @property
    def context(self) -> Context | None:
        """What prompts show of the turns before the query; None for a battle of a single turn."""
        return context_of(self.conversation, {side.value: self.answer(side).conversation for side in Side})

    @property
    def searched(self) -> str:
        """The query as a search uses it: after the user's earlier turns, which say what it is about."""
        return searched(user_turns(self.turns(Side.A)), self.query)

    def turns(self, side: Side) -> Turns:
        """The turns before the query as one side had them."""
        return self.answer(side).conversation or self.conversation

    def answer(self, side: Side) -> Answer:
        """The answer of one side."""
        return self.a if side is Side.A else self.b

    def texts(self, first: Side) -> tuple[str, str]:
        """The texts of both answers, that of one side first."""
        return self.answer(first).text, self.answer(first.other).text

    def sides_citing(self, url: str) -> tuple[Side, ...]:
        """The sides whose own sources name this URL."""
        return tuple(side for side in Side if any(s.url == url for s in self.answer(side).sources))

    def content_hash(self) -> str:
        """Hash of everything but the id. The same id with another hash is a conflict."""
        content = asdict(self, dict_factory=_hashable)
        del content["id"]
        return derived_id(content)

    def carried_hash(self) -> str:
        """Hash of the battle as events carry it, which tells whether one of them carries another battle."""
        return derived_id(self.id, self.without_source_texts().content_hash())

    def without_source_texts(self) -> "Battle":
        """The battle as later stages carry it: page texts are in the page store, not in messages."""
        return replace(self, a=_without_texts(self.a), b=_without_texts(self.b))


_LEFT_OUT = (
    ("conversation", ()),
    ("reasoning", None),
    ("snippet", None),
    ("start", None),
    ("end", None),
    ("passages", ()),
)


def _hashable(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Fields as they are hashed, so that stored hashes stay valid.

    An absent title or language is "". A conversation without turns and an absent cited passage are left out.
    """
    return {
        name: "" if value is None and name in ("title", "language") else value
        for name, value in fields
        if (name, value) not in _LEFT_OUT
    }


def _without_texts(answer: Answer) -> Answer:
    return replace(answer, sources=tuple(replace(source, text=None) for source in answer.sources))
