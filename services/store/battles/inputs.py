"""The events with which the evaluation of a stored battle begins, or goes on."""

from collections.abc import Sequence
from typing import cast

from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    BattleSubmitted,
)
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.store.battles.event_reading import RecordedEvent
from services.store.content.text_references import SUBMITTED, Filled
from services.wire.codec import decode
from services.wire.stages import battle_failed

_DETAIL = "the text of a source that was sent with the battle is no longer stored"


def first_input(submission: Filled) -> BattleSubmitted | BattleFailed:
    """The submission of a battle, or the failure that ends it where a text of its sources is missing.

    Raises:
        UndecodableMessage: The stored submission cannot be decoded.
    """
    submitted = cast(BattleSubmitted, decode(SUBMITTED, submission.body))
    if submission.complete:
        return submitted
    failure = StageFailure(stage=Stage.INTAKE, reason=Reason.STORE_UNAVAILABLE, detail=_DETAIL, attempts=1)
    return battle_failed(submitted, failure)


def recorded_input(recorded: Sequence[RecordedEvent], name: str) -> BattleEvent | None:
    """The newest recorded event of a battle that a stage reads; None where the battle has not come that far.

    Args:
        recorded: The events of the battle, in order.
        name: Short name of the event that the stage or evaluator reads.

    Raises:
        UndecodableMessage: An event cannot be decoded.
    """
    newest = next((row for row in reversed(recorded) if row.name == name and row.complete), None)
    return None if newest is None else cast(BattleEvent, decode(newest.schema, newest.body))
