"""The handler of the recorder, and its stage.

    every battle event  ->  [recorder]  ->  the event, the state of its battle, its outcomes, their counters

It alone writes results, and what follows from an event is written in the transaction of the event. Events are
stored under their message ids, so recording one twice changes nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
from arena.v1 import arena_pb2

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleEvent,
    BattleFailed,
    BattleGraded,
    BattleSubmitted,
    BattleVoted,
    Event,
    arena_of,
    battle_id_of,
    submission_key,
)
from nuggetstream.domain.lens import evaluator_of
from nuggetstream.domain.pipeline import Stage as StageName
from nuggetstream.nuggets.scores import Unscorable
from nuggetstream.text.manipulation import flags_of
from services.recorder.costs import observe_cost
from services.runtime.bus import Delivery
from services.runtime.bus.message import SCHEMA
from services.runtime.errors import InvalidInput, Retryable
from services.runtime.grouping import Grouping
from services.runtime.languages import language_of
from services.runtime.metrics import (
    BATTLE_SECONDS,
    BATTLES,
    JUDGE_LENGTH,
    JUDGE_POSITION,
    arena_label,
)
from services.runtime.stage import Stage
from services.store.battles.battles import Battles
from services.store.battles.recording import NewEvent, Recorded, Recording
from services.store.content.blobs import Blobs
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.spend.costs import Costs
from services.wire.codec import NewerMessage, encode
from services.wire.evaluators import EVALUATORS
from services.wire.stages import event_stage
from services.wire.subjects import RECORDED

log = structlog.get_logger(__name__)
Notify = Callable[[str, bytes], Awaitable[None]]
MAX_GROUP = 256  # events in one transaction, and in flight at once


@dataclass(slots=True)
class Recorder:
    """Stores events in the database; those that arrive together share a transaction.

    Attributes:
        battles: The tables of battles, events and failures.
        notify: Publishes a core NATS message (subject, body), which may get lost.
        evaluators: Names of the declared evaluators.
        costs: Reads what battles cost, to export it; None to export nothing.
    """

    battles: Battles
    notify: Notify
    evaluators: Sequence[str] = ()
    costs: Costs | None = None
    _record: Grouping[NewEvent, Recording] = field(init=False)

    def __post_init__(self) -> None:
        self._record = Grouping(lambda new: self.battles.record_all(new, datetime.now(UTC)), MAX_GROUP)

    async def __call__(self, event: BattleEvent) -> list[Event]:
        """Store one event and count its outcomes, and notify watchers. It publishes no events.

        An event whose battle is not stored, and that does not carry it, is parked.

        Raises:
            InvalidInput: The event states an outcome of another arena or of other systems, and is not stored;
                or it has a nugget without a label, and is stored without an outcome.
        """
        unscorable: Unscorable | None = None
        outcomes: Sequence[Outcome] = ()
        try:
            outcomes = outcomes_of(event, datetime.now(UTC))
        except Unscorable as error:
            unscorable = error
        await self._store(event, outcomes)
        if unscorable is not None:
            raise InvalidInput(str(unscorable)) from unscorable
        return []

    async def _store(self, event: BattleEvent, outcomes: Sequence[Outcome]) -> None:
        reading = [name for name in self.evaluators if isinstance(event, EVALUATORS[name].reads)]
        new = NewEvent.of(event, outcomes, evaluators=reading, stored_as=_public(event))
        recorded = await self._record(new)
        if isinstance(recorded, LookupError) and await self.battles.deleted_at(battle_id_of(event)):
            log.info("an event of a deleted battle is dropped", battle_id=battle_id_of(event))
            return
        if isinstance(recorded, LookupError) and (submitted := _submission_of(event)) is not None:
            # The battle was published and its row lost, for instance because a backup was restored.
            battle = submitted.battle
            detected = await language_of(battle.query) if battle.language is None else None
            await self.battles.accept(
                battle,
                encode(submitted),
                datetime.now(UTC),
                detected=detected,
                flagged=bool(submitted.flags),
                vote=submitted.human_vote,
            )
            recorded = await self._record(new)
        if isinstance(recorded, LookupError):
            log.warning("an event is parked, because its battle is not stored", battle_id=battle_id_of(event))
            await self.battles.park(event)
            return
        if isinstance(recorded, InvalidInput):
            raise recorded
        if not recorded.known:
            if not (isinstance(event, BattleAssigned) and event.nugget_list.edit):  # it had ended before
                await self._measure(recorded, event)
            for outcome in outcomes:
                _observe(outcome)
        # Also of an event that was recorded where it was accepted, or by a process that was killed.
        notification = arena_pb2.EventRecorded(
            battle_id=battle_id_of(event),
            sequence=recorded.sequence,
            counted_in=arena_of(event) if outcomes else "",
        )
        await self.notify(RECORDED, notification.SerializeToString())

    async def _measure(self, recorded: Recorded, event: BattleEvent) -> None:
        if recorded.ended is None:
            return
        label, seconds = arena_label(arena_of(event)), datetime.now(UTC) - recorded.ended.received_at
        BATTLES.labels(label, recorded.ended.state.value).inc()
        BATTLE_SECONDS.labels(label).observe(seconds.total_seconds())
        if self.costs is not None:
            await observe_cost(self.costs, battle_id_of(event), label)


def _submission_of(event: BattleEvent) -> BattleSubmitted | None:
    """The event that submits the battle of an event; None for an event that does not carry its battle."""
    if isinstance(event, BattleSubmitted):
        return event
    if isinstance(event, BattleVoted | BattleFailed | BattleGraded):
        return None
    battle = event.battle
    key = submission_key(battle.id, battle.content_hash())
    return BattleSubmitted(key=key, battle=battle, flags=flags_of(battle))


def _observe(outcome: Outcome) -> None:
    """Export what the verdict of a judge may depend on beside the answers."""
    evaluator, model = evaluator_of(outcome.source), outcome.judge_model
    if evaluator is None or model is None:
        return
    if outcome.favoured is not None:
        favoured = ("neither", "first", "second")[outcome.favoured]
        JUDGE_POSITION.labels(evaluator, model, favoured).inc()
    if outcome.winner in (Vote.A, Vote.B) and outcome.longer:
        longer = (outcome.winner is Vote.A) == (outcome.longer > 0)
        JUDGE_LENGTH.labels(evaluator, model, "longer" if longer else "shorter").inc()


def _public(event: BattleEvent) -> BattleEvent:
    """The event as clients read it; what administrators read is stored beside it."""
    if not isinstance(event, BattleFailed):
        return event
    return replace(event, failure=replace(event.failure, admin_detail=None))


@dataclass(frozen=True, slots=True)
class Unread:
    """A message of a newer build, which is parked until such a build reads it."""

    id: str
    schema: str
    body: bytes


def build(
    recorder: Recorder, blobs: Blobs, *, concurrency: int = MAX_GROUP, deadline: float = 30.0
) -> Stage[BattleEvent | Unread, Event]:
    """The stage of the recorder; messages that this build cannot read are parked, out of the way."""
    stage = event_stage(StageName.RECORDER, recorder, blobs, concurrency=concurrency, deadline=deadline)

    async def decode(delivery: Delivery, body: bytes) -> BattleEvent | Unread:
        try:
            decoded = stage.decode(delivery, body)
            return await decoded if isinstance(decoded, Awaitable) else decoded
        except Retryable as error:
            if not isinstance(error.__cause__, NewerMessage):
                raise
            return Unread(delivery.id, delivery.headers.get(SCHEMA, ""), body)

    async def handle(job: BattleEvent | Unread) -> Sequence[Event]:
        if not isinstance(job, Unread):
            return await recorder(job)
        log.warning("a message of a newer build is parked", schema=job.schema, message_id=job.id)
        await recorder.battles.park_unread(job.id, job.schema, job.body)
        return []

    return Stage(
        name=stage.name,
        consumer=stage.consumer,
        decode=decode,
        handle=handle,
        encode=stage.encode,
        give_up=lambda job, failure: stage.give_up(None if isinstance(job, Unread) else job, failure),
        failure_suffices=stage.failure_suffices,
        concurrency=concurrency,
        deadline=deadline,
        fill_limit=stage.fill_limit,
        about=lambda job: None if isinstance(job, Unread) else stage.about(job),
    )
