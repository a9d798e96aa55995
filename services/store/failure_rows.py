"""Failures of battles as they are stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage


@dataclass(frozen=True, slots=True)
class RecordedFailure:
    """A failure of a battle as stored."""

    battle_id: str
    arena: str
    failure: StageFailure
    failed_at: datetime


def failure_of_row(row: Any) -> RecordedFailure:
    """The failure in a row of its table."""
    failure = StageFailure(
        stage=Stage(row.stage),
        reason=Reason(row.reason),
        detail=row.detail,
        attempts=row.attempts,
        admin_detail=row.admin_detail,
        evaluator=row.evaluator,
    )
    return RecordedFailure(row.battle_id, row.arena, failure, row.failed_at)
