"""The event with which the evaluation of a stored battle begins."""

from typing import cast

from nuggetstream.domain.event import BattleFailed, BattleSubmitted
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from services.store.text_references import SUBMITTED, Filled
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
