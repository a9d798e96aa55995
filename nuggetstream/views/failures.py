"""Failures as administrators see them, as JSON."""

from datetime import datetime
from typing import Literal

from nuggetstream.domain.failure import Reason
from nuggetstream.views.common import View


class FailureEntry(View):
    """Work that was given up: the failure of a battle, or a message that belongs to no failed battle."""

    id: str
    """Names the entry in later requests."""
    kind: Literal["battle", "message"]
    stage: str
    evaluator: str | None = None
    """Name of the judge that gave up; null for other stages and where there is a single judge."""
    reason: Reason
    arena: str | None = None
    battle_id: str | None = None
    detail: str
    admin_detail: str | None = None
    """What the other side said, without known secrets."""
    attempts: int
    failed_at: datetime
    open: bool
    """Whether it can be retried or discarded."""


class FailureAction(View):
    """The result of retrying or discarding one entry."""

    id: str
    result: Literal["retried", "discarded", "unchanged"]
    """"unchanged" where the work is already done or running, or was discarded before."""
