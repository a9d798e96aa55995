"""A human vote as arenas send it: checked once, whatever door it comes by."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.files.fields import EMPTY_IS_ABSENT, Name, Strict, Text, at_most
from nuggetstream.files.spellings import sent_vote

MAX_COMMENT_BYTES = 10_000


def _as_usually_spelt(value: Any) -> Any:
    """The vote that a word such as "model_a" or "draw" means; other values are left to the check."""
    return value if not isinstance(value, str) else sent_vote(value) or value


def _as_text(value: Any) -> Any:
    """A voter's number as text; databases of arenas count their users."""
    return str(value) if type(value) is int else value


VOTER = "Opaque id of the person who votes, of whose votes in a battle the newest counts; absent if unknown."
COMMENT = "Why, in the words of the person."
Voter = Annotated[Name | None, EMPTY_IS_ABSENT, BeforeValidator(_as_text), Field(description=VOTER)]
Comment = Annotated[
    Annotated[Text, at_most(MAX_COMMENT_BYTES)] | None, EMPTY_IS_ABSENT, Field(description=COMMENT)
]


class VoteSubmission(Strict):
    """A human vote; the newest vote of each voter in a battle counts, and of several voters the majority."""

    vote: Annotated[Vote, BeforeValidator(_as_usually_spelt)]
    voter: Voter = None
    comment: Comment = None

    def to_core(self) -> HumanVote:
        """The vote."""
        return HumanVote(self.vote, self.voter, self.comment)


class InvalidVote(ValueError):
    """A vote that cannot be accepted; names each field that is wrong."""


def parse_vote(fields: Mapping[str, Any]) -> VoteSubmission:
    """Check the fields of a vote.

    Raises:
        InvalidVote: A field is wrong.
    """
    try:
        return VoteSubmission.model_validate(fields)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        raise InvalidVote("; ".join(problems)) from None
