"""The turns before the query, as arenas send them."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from nuggetstream.domain.conversation import Role, Turn, Turns
from nuggetstream.files.fields import Strict, Text, at_most, few, not_blank
from nuggetstream.text.reasoning import parted

MAX_TURNS = 50
MAX_TURN_BYTES = 100_000
MAX_CONVERSATION_BYTES = 200_000


class TurnSubmission(Strict):
    """One message of a conversation."""

    role: Role
    text: Annotated[Text, at_most(MAX_TURN_BYTES)]

    @model_validator(mode="after")
    def _asks(self) -> "TurnSubmission":
        if self.role is Role.USER:
            not_blank(self.text)
        return self

    def to_core(self) -> Turn:
        """The turn; without the reasoning of an assistant, which was no part of the conversation."""
        return Turn(self.role, parted(self.text).answer if self.role is Role.ASSISTANT else self.text)


def _ends_before_the_query(turns: tuple[TurnSubmission, ...]) -> tuple[TurnSubmission, ...]:
    if (size := sum(len(turn.text.encode("utf-8")) for turn in turns)) > MAX_CONVERSATION_BYTES:
        raise ValueError(f"is {size:,} bytes long; at most {MAX_CONVERSATION_BYTES:,} are accepted")
    if turns and turns[-1].role is Role.USER:
        raise ValueError("ends with a turn of the user; it has the turns before the query")
    return turns


Conversation = Annotated[
    tuple[TurnSubmission, ...],
    Field(max_length=MAX_TURNS),
    few(MAX_TURNS),
    AfterValidator(_ends_before_the_query),
]


def turns_of(submitted: Sequence[TurnSubmission]) -> Turns:
    """The turns."""
    return tuple(turn.to_core() for turn in submitted)
