"""The turns of a conversation before the query of a battle.

    turns of both systems, or of each its own  ->  what a prompt shows of them, what a search looks for

Models are asked about the query alone. The earlier turns are context, because a query such as "And how much
does it cost?" says nothing without them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

CONTEXT_CHARACTERS = 12_000
"""Maximum number of characters of earlier turns in a prompt; the oldest turns are left out first."""
SEARCH_CHARACTERS = 1_000
"""Maximum number of characters of the user's earlier turns that a search adds to the query."""
CUT = "[…] "  # stands for the beginning of a turn that alone exceeds the limit


class Role(StrEnum):
    """Who wrote a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    text: str


Turns = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class NamedTurn:
    """A turn with the name by which a prompt refers to it, such as "t1.user"."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a prompt shows of a conversation.

    Attributes:
        common: The turns that all answers have in common, oldest first.
        own: The earlier answers of each side, where the systems answered differently; empty otherwise.
        left_out: Number of the oldest messages of the user that are left out with their answers.
    """

    common: tuple[NamedTurn, ...]
    own: Mapping[str, tuple[NamedTurn, ...]]
    left_out: int

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all turns, in an order that depends on the conversation alone."""
        own = [turn.text for side in sorted(self.own) for turn in self.own[side]]
        return (*(turn.text for turn in self.common), *own)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A message of the user (None before the first one) and the answers to it by name of the answerer."""

    user: str | None
    answers: Mapping[str, str]

    @property
    def texts(self) -> list[str]:
        return [*([] if self.user is None else [self.user]), *self.answers.values()]

    def shortened(self, characters: int) -> "_Exchange":
        """The exchange with only the last of the characters of each text."""
        most = characters // len(self.texts)
        return replace(
            self,
            user=None if self.user is None else _end_of(self.user, most),
            answers={name: _end_of(text, most) for name, text in self.answers.items()},
        )


def user_turns(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The texts of the user's turns."""
    return tuple(turn.text for turn in turns if turn.role is Role.USER)


def searched(earlier: Sequence[str], query: str) -> str:
    """The query as a search uses it: after the user's earlier turns, of which the newest characters count.

    Args:
        earlier: The user's earlier turns, oldest first.
        query: The query.

    >>> searched(["Who built the Eiffel Tower?"], "And when?")
    'Who built the Eiffel Tower?\\nAnd when?'
    """
    before = "\n".join(earlier)[-SEARCH_CHARACTERS:]
    return f"{before}\n{query}" if before else query


def context_of(
    common: Turns, own: Mapping[str, Turns], characters: int = CONTEXT_CHARACTERS
) -> Context | None:
    """What a prompt shows of a conversation; None without earlier turns.

    Whole exchanges are left out, the oldest first. Where the newest alone is too long, its texts lose their
    beginnings.

    Args:
        common: The turns that both systems had.
        own: The turns of each system, by its side, where they differ. The user's turns are the same in all.
        characters: Maximum number of characters, in Unicode code points.
    """
    exchanges = _exchanges({"assistant": common} if common else own)
    if not exchanges:
        return None
    shown, room = list[_Exchange](), characters
    for exchange in reversed(exchanges):
        room -= sum(map(len, exchange.texts))
        if room < 0:
            break
        shown.insert(0, exchange)
    shown = shown or [exchanges[-1].shortened(characters)]
    left_out = len(exchanges) - len(shown)
    numbered = list(enumerate(shown, start=1))
    return Context(
        common=tuple(turn for number, exchange in numbered for turn in _common(number, exchange)),
        own={side: _own(side, numbered) for side in own} if not common else {},
        left_out=left_out,
    )


def _exchanges(conversations: Mapping[str, Turns]) -> list[_Exchange]:
    """The exchanges of conversations with the same user; several answers to one message are joined."""
    joined: dict[int, dict[str, list[str]]] = {}
    users: dict[int, str] = {}
    for name, turns in conversations.items():
        number = 0
        for turn in turns:
            if turn.role is Role.USER:
                number += 1
                users[number] = turn.text
                joined.setdefault(number, {})
            else:
                joined.setdefault(number, {}).setdefault(name, []).append(turn.text)
    return [
        _Exchange(users.get(number), {name: "\n\n".join(texts) for name, texts in answers.items()})
        for number, answers in sorted(joined.items())
    ]


def _common(number: int, exchange: _Exchange) -> list[NamedTurn]:
    texts = {"user": exchange.user, "assistant": exchange.answers.get("assistant")}
    return [NamedTurn(f"t{number}.{name}", text) for name, text in texts.items() if text is not None]


def _own(side: str, numbered: Sequence[tuple[int, _Exchange]]) -> tuple[NamedTurn, ...]:
    return tuple(
        NamedTurn(f"t{number}", exchange.answers[side])
        for number, exchange in numbered
        if side in exchange.answers
    )


def _end_of(text: str, characters: int) -> str:
    return text if len(text) <= characters else CUT + text[-max(1, characters - len(CUT)) :]
