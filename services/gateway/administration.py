"""What the routes of administrators have in common: errors, pace, and moments in queries."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import AfterValidator

from nuggetstream.views.common import Problem
from services.gateway.errors import TooFast
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters

PER_SECOND = 10
FORBIDDEN: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "Only administrators may do this."}
}


def admin_router(prefix: str) -> APIRouter:
    """A router for administrators.

    Args:
        prefix: Path before those of its routes.
    """
    return APIRouter(
        prefix=prefix,
        tags=["administration"],
        dependencies=[Depends(reject_unknown_parameters)],
        responses={**FORBIDDEN, 422: RESPONSES[422], 503: RESPONSES[503]},
    )


def _zoned(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_zoned)]


@dataclass(slots=True, eq=False)
class Pace:
    """At most so many actions per second, in a burst or one by one."""

    per_second: int = PER_SECOND
    _left: float = PER_SECOND
    _at: float = field(default_factory=time.monotonic)

    async def __call__(self) -> None:
        """Take one action's share; a dependency of every route that starts work.

        Raises:
            TooFast: There is none left.
        """
        now = time.monotonic()
        self._left = min(self.per_second, self._left + (now - self._at) * self.per_second)
        self._at = now
        if self._left < 1:
            raise TooFast(self.per_second)
        self._left -= 1
