"""Whether the model answers each stage, as stages tell it and the gateway hears it.

    a circuit that is open, every five seconds  ->  ModelState on core NATS  ->  the stages that wait

The messages are not stored: a gateway that starts knows the state within five seconds, and what is not
repeated for fifteen seconds, for instance because the process ended, is forgotten.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import nats.errors
from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus, Notification
from services.runtime.llm.cause import Cause, FirstAway
from services.runtime.polling import pause
from services.wire.subjects import MODEL_STATE

_LOOK_S = 0.5  # seconds between two looks at the circuit
_REPEAT_S = 5.0
_FORGET_S = 15.0


@dataclass(frozen=True, slots=True)
class WaitingStage:
    """A stage that waits for the model, or that asks its fallback endpoint.

    Attributes:
        stage: The stage.
        cause: Why the model does not answer.
        since: Since when it has been away; of several processes, the longest.
        fallback_answers: Whether a fallback answers, so that nothing waits; None where there is none.
    """

    stage: Stage
    cause: Cause
    since: datetime
    fallback_answers: bool | None = None

    @property
    def reason(self) -> str:
        """What everybody may read about it."""
        if self.fallback_answers:
            return f"{self.stage.value} asks the fallback endpoint, not the first one: {self.cause.words}"
        neither = "; the fallback does not answer either" if self.fallback_answers is False else ""
        return f"{self.stage.value} waits for the model: {self.cause.words}{neither}"


class ModelStateReporter:
    """Tells the gateway about the circuit of one process.

    Args:
        bus: Connection to the broker.
        stage: The stage that asks the model.
        away: Returns why the first endpoint is away; None while it answers.
    """

    def __init__(self, bus: Bus, stage: Stage, away: Callable[[], FirstAway | None]) -> None:
        self._bus, self._stage, self._away = bus, stage, away
        self._process = uuid4().hex

    async def run(self, stop: asyncio.Event) -> None:
        """Report changes within half a second, and an open circuit every five seconds."""
        published: FirstAway | None = None
        told_at = 0.0
        while not stop.is_set():
            state, now = self._away(), time.monotonic()
            due = state != published or (state is not None and now - told_at >= _REPEAT_S)
            if due and await self._tell(state):
                published, told_at = state, now
            await pause(_LOOK_S, stop)

    async def _tell(self, state: FirstAway | None) -> bool:
        message = arena_pb2.ModelState(stage=self._stage.value, process=self._process)
        if state is not None:
            message.cause = state.cause.value
            message.since.FromDatetime(datetime.fromtimestamp(state.since, UTC))
            if state.fallback_answers is not None:
                message.fallback_answers = state.fallback_answers
        try:
            await self._bus.core_publish(MODEL_STATE, message.SerializeToString())
        except nats.errors.Error:
            return False
        return True


class ModelStates:
    """What the processes of all stages have told.

    Args:
        clock: Seconds of a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, tuple[WaitingStage, float]] = {}

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Hear the processes inside the block."""

        async def hear(notification: Notification) -> None:
            self.hear(notification.body)

        async with bus.core_subscribe(MODEL_STATE, hear):
            yield

    def hear(self, body: bytes) -> None:
        """Take note of one message; one that cannot be read is ignored."""
        try:
            message = arena_pb2.ModelState.FromString(body)
            if not message.HasField("since"):
                self._told.pop(message.process, None)
                return
            since = message.since.ToDatetime(UTC)
            fallback = message.fallback_answers if message.HasField("fallback_answers") else None
            waiting = WaitingStage(Stage(message.stage), Cause(message.cause), since, fallback)
        except (DecodeError, ValueError):
            return
        self._told[message.process] = (waiting, self._clock())

    def waiting(self, stages: Iterable[Stage] = tuple(Stage)) -> list[WaitingStage]:
        """The stages, of those given, that wait for the model now, in the order of the flow."""
        return [stage for stage in self.without_first(stages) if not stage.fallback_answers]

    def without_first(self, stages: Iterable[Stage] = tuple(Stage)) -> list[WaitingStage]:
        """The stages, of those given, whose first endpoint is away, in the order of the flow.

        Of several processes of a stage, one that waits comes before one that has a fallback.
        """
        now = self._clock()
        self._told = {name: sent for name, sent in self._told.items() if now - sent[1] < _FORGET_S}
        longest: dict[Stage, WaitingStage] = {}
        for waiting, _ in self._told.values():
            first = longest.get(waiting.stage)
            if first is None or _urgency(waiting) < _urgency(first):
                longest[waiting.stage] = waiting
        wanted = set(stages)
        return [longest[stage] for stage in Stage if stage in longest and stage in wanted]


def _urgency(waiting: WaitingStage) -> tuple[bool, datetime]:
    return bool(waiting.fallback_answers), waiting.since
