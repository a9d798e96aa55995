"""The parameters of the battle routes, and their limits."""

from enum import StrEnum
from typing import Annotated

from fastapi import Path
from pydantic import Field

from services.gateway.query import QueryParameters, Text

MAX_WAIT = 120.0  # seconds
MOST_LISTED = 200

BattleId = Annotated[str, Path(description="Id of the battle; it may contain slashes.")]


class _ListQuery(QueryParameters):
    arena: Text | None = None
    """Only this arena; all arenas when absent."""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """Maximum number of results."""


class Order(StrEnum):
    """Which battles come first."""

    NEWEST = "newest"
    DOUBT = "doubt"


class BattlesQuery(_ListQuery):
    """Which battles to list."""

    order: Order = Order.NEWEST
    """newest: the battles received last. doubt: only battles of the arena that wait for a vote, those first
    about which the machine is most unsure."""
    flagged: bool = False
    """Only battles with a flagged answer; all battles when false."""


class FailuresQuery(_ListQuery):
    """Which failures to list."""

    battle: Text | None = None
    """Only failures of the battle with this id; all battles when absent."""


class SubmissionQuery(QueryParameters):
    """How to accept a battle."""

    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] | None = None
    """Seconds to wait for the battle to end; the reply does not wait when absent."""
