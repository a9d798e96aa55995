"""Which stages try a battle again, as their runners tell it and the gateway hears it.

    an attempt that failed  ->  StageRetry on core NATS  ->  what the battle's page shows

The messages are not stored: a gateway that started after an attempt failed does not know it, and what no
later message confirms is forgotten when the next attempt must have ended.
"""

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from nuggetstream.domain.event import BattleEvent, battle_id_of
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus, Notification
from services.wire.subjects import STAGE_RETRY

_MOST = 10_000  # retries that are known at once, a few MB
_MARGIN = 10.0  # seconds that a message may be late


def retry_notice(event: BattleEvent, failure: StageFailure, seconds: float) -> Notification:
    """What a runner tells when a stage tries again.

    Args:
        event: The event that the stage handles.
        failure: The attempt that failed.
        seconds: Seconds in which the next attempt ends.
    """
    message = arena_pb2.StageRetry(
        battle_id=battle_id_of(event),
        stage=failure.stage.value,
        reason=failure.reason.value,
        detail=failure.detail,
        attempts=failure.attempts,
        seconds=seconds,
    )
    message.failed_at.FromDatetime(datetime.now(UTC))
    return Notification(STAGE_RETRY, message.SerializeToString(), {})


@dataclass(frozen=True, slots=True)
class StageRetry:
    """A stage that tries a battle again.

    Attributes:
        stage: The stage.
        reason: Why its last attempt failed.
        detail: The same as one sentence for everybody.
        attempts: Number of attempts that failed, at least 1.
        failed_at: When the last attempt failed.
    """

    stage: Stage
    reason: Reason
    detail: str
    attempts: int
    failed_at: datetime


class StageRetries:
    """What the runners have told, of the newest battles.

    Args:
        clock: Seconds of a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: OrderedDict[tuple[str, Stage], tuple[StageRetry, float]] = OrderedDict()

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Hear the runners inside the block."""

        async def hear(notification: Notification) -> None:
            self.hear(notification.body)

        async with bus.core_subscribe(STAGE_RETRY, hear):
            yield

    def hear(self, body: bytes) -> None:
        """Take note of one message; one that cannot be read is ignored."""
        try:
            message = arena_pb2.StageRetry.FromString(body)
            retry = StageRetry(
                stage=Stage(message.stage),
                reason=Reason(message.reason),
                detail=message.detail,
                attempts=message.attempts,
                failed_at=message.failed_at.ToDatetime(UTC),
            )
        except (DecodeError, ValueError):
            return
        key = (message.battle_id, retry.stage)
        self._told[key] = (retry, self._clock() + message.seconds + _MARGIN)
        self._told.move_to_end(key)
        while len(self._told) > _MOST:
            self._told.popitem(last=False)

    def of(self, battle_id: str, stages: Iterable[Stage]) -> list[StageRetry]:
        """The stages, of those given, that try a battle again now."""
        now, retries = self._clock(), list[StageRetry]()
        for stage in stages:
            retry, until = self._told.get((battle_id, stage), (None, 0.0))
            if retry is not None and now < until:
                retries.append(retry)
        return retries
