"""The parameters of the battle routes, and their limits."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import Path
from pydantic import AwareDatetime, Field, PlainValidator, TypeAdapter, ValidationError, WithJsonSchema

from nuggetstream.domain.progress import BattleState
from services.store.battles.battle_search import BattleFilter, Position
from services.wire.query_parameters import QueryParameters, Text, without_nul

MAX_WAIT = 120.0  # seconds
MOST_LISTED = 200

BattleId = Annotated[str, Path(description="Id of the battle; it may contain slashes.")]


class Order(StrEnum):
    """Which battles come first."""

    NEWEST = "newest"
    DOUBT = "doubt"


_MOMENT: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


def position_of(text: str) -> Position:
    """A place in a list of battles, written TIME,ID.

    Raises:
        ValueError: it is not written so.

    >>> position_of("2026-05-04T12:00:00Z,tides").battle_id
    'tides'
    """
    moment, comma, battle_id = without_nul(text).partition(",")
    try:
        if comma:
            return Position(_MOMENT.validate_python(moment), battle_id)
    except ValidationError:
        pass
    raise ValueError("should be the `before` of a link to the next page, a time and an id")


Before = Annotated[Position, PlainValidator(position_of), WithJsonSchema({"type": "string"})]


def written(position: Position) -> str:
    """A place as `position_of` reads it.

    >>> written(position_of("2026-05-04T12:00:00Z,tides"))
    '2026-05-04T12:00:00+00:00,tides'
    """
    return f"{position.received_at.isoformat()},{position.battle_id}"


class BattleFilterQuery(QueryParameters):
    """Which battles are in a list, in which order and from where on."""

    arena: Text | None = None
    """Only this arena; all arenas when absent."""
    order: Order = Order.NEWEST
    """newest: the battles received last. doubt: only battles of the arena that wait for a vote, those first
    about which the machine is most unsure."""
    search: Annotated[Text, Field(max_length=500)] | None = None
    """Only battles whose query contains all of these words, in any case."""
    system: Text | None = None
    """Only battles with an answer of this system."""
    tag: Text | None = None
    """Only battles with this tag, such as `category:science`."""
    language: Text | None = None
    """Only battles with this language tag, declared or detected."""
    state: BattleState | None = None
    """Only battles in this state."""
    disagree: bool = False
    """Only battles of which human vote, nuggets and judge do not all prefer the same answer."""
    flagged: bool = False
    """Only battles with a flagged answer; all battles when false."""
    before: Before | None = None
    """Where the page before ended: time of receipt and id of its last battle, with a comma between them, as
    the link to the next page has them; the newest battles when absent."""

    @property
    def filter(self) -> BattleFilter:
        """The filter of battles."""
        return BattleFilter(
            arena=self.arena,
            text=self.search,
            systems=() if self.system is None else (self.system,),
            tag=self.tag,
            language=self.language,
            state=self.state,
            disagreeing=self.disagree,
            flagged=self.flagged,
        )


class BattlesQuery(BattleFilterQuery):
    """Which battles to list."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """Maximum number of results; further ones are on the next page, to which the header `Link` leads."""


class FailuresQuery(QueryParameters):
    """Which failures to list."""

    arena: Text | None = None
    """Only this arena; all arenas when absent."""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """Maximum number of results."""
    battle: Text | None = None
    """Only failures of the battle with this id; all battles when absent."""


class SubmissionQuery(QueryParameters):
    """How to accept a battle."""

    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] | None = None
    """Seconds to wait for the battle to end; the reply does not wait when absent."""
