"""The events with which the evaluation of a stored battle begins, or goes on."""

from collections.abc import Iterable
from typing import cast

from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    BattleNuggetized,
    BattleSubmitted,
    has_other_list,
    nuggetizer_of,
)
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from services.store.event_reading import RecordedEvent
from services.store.text_references import SUBMITTED, Filled
from services.wire.codec import decode
from services.wire.stages import battle_failed
from services.wire.subjects import event_name

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


def lists_of(recorded: Iterable[RecordedEvent]) -> dict[str | None, BattleNuggetized]:
    """The newest nugget list of each nuggetizer, by its name, among the events of a battle.

    Raises:
        UndecodableMessage: An event cannot be decoded.
    """
    lists: dict[str | None, BattleNuggetized] = {}
    for stored in recorded:
        if stored.name == event_name(BattleNuggetized) and stored.complete:
            event = cast(BattleNuggetized, decode(stored.schema, stored.body))
            lists[nuggetizer_of(event)] = event
    return lists


def graded_input(recorded: Iterable[RecordedEvent], kind: type[BattleEvent]) -> BattleEvent | None:
    """The newest event of a battle that an evaluator grades; None where the battle has not come that far.

    Args:
        recorded: The events of the battle, in order.
        kind: Type of the event that the evaluator reads.

    Raises:
        UndecodableMessage: An event cannot be decoded.
    """
    stored = [each for each in recorded if each.name == event_name(kind) and each.complete]
    read = (cast(BattleEvent, decode(each.schema, each.body)) for each in reversed(stored))
    return next((event for event in read if not has_other_list(event)), None)
