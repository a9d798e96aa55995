"""The stages of a battle that wait for the model or try again, as the API shows them."""

from collections.abc import Sequence

from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.battles import WaitingView
from services.wire.model_state import ModelStates, WaitingStage
from services.wire.retries import StageRetries, StageRetry


def waiting_views(
    battle_id: str, at_work: Sequence[Stage], models: ModelStates, retries: StageRetries
) -> list[WaitingView]:
    """What keeps the stages that work on a battle, in words that everybody may read.

    Args:
        battle_id: Id of the battle.
        at_work: Stages that have their input and have not ended.
        models: Whether the model answers each stage; a stage that waits for it does not count as retried.
        retries: Stages that try a battle again.
    """
    waiting = {stage.stage: _waits(stage) for stage in models.waiting(at_work)}
    retried = {retry.stage: _tries_again(retry) for retry in retries.of(battle_id, at_work)}
    kept = retried | waiting
    return [kept[stage] for stage in Stage if stage in kept]


def _waits(waiting: WaitingStage) -> WaitingView:
    return WaitingView(
        stage=waiting.stage,
        cause=waiting.cause.value,
        reason=waiting.reason,
        since=waiting.since,
    )


def _tries_again(retry: StageRetry) -> WaitingView:
    return WaitingView(
        stage=retry.stage,
        cause=retry.reason.value,
        reason=f"{retry.stage.value} tries again: {retry.detail}",
        since=retry.failed_at,
        attempts=retry.attempts,
    )
