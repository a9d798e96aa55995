"""Runs of one stage or evaluator on battles that it has handled before: a rerun, which has a name.

    a battle that has ended  ->  the newest input of the stage, recorded again under a key of the rerun, and
                                 the branches behind the stage are pending

The key follows from the name of the rerun, so that a battle runs once in it. What the stage publishes is
recorded beside the old events, and the newest count. The caller publishes the event on the subject that only
this stage reads; `services.recorder.reconciler` publishes what gets lost.
"""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

import structlog
from sqlalchemy import Connection, Select, func, select, update

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleNuggetized
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import PIPELINE, Stage, branches_of
from nuggetstream.domain.progress import Branch
from nuggetstream.nuggets.scores import Unscorable
from services.store.battles.event_reading import RecordedEvent, read_events
from services.store.battles.inputs import recorded_input
from services.store.battles.recording import NewEvent, record_all
from services.store.database import Store
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.tables import battles, events
from services.store.work.pending import Worker, begin, work
from services.wire.codec import UndecodableMessage, decode
from services.wire.evaluators import EVALUATORS
from services.wire.subjects import EVENT_TYPES, event_name

log = structlog.get_logger(__name__)
_REPLACING_LISTS = (Stage.RETRIEVER, Stage.NUGGETIZER)
_STATING = ("judged", "assigned")
_BY_NUGGETS = (Lens.NUGGET.value, Lens.GROUNDED.value)


class RunResult(StrEnum):
    """What became of the request to run a stage again on a battle."""

    STARTED = "started"
    KNOWN = "known"  # the battle is part of the rerun already
    RUNNING = "running"  # it has not ended
    LEFT_OUT = "left out"  # there is no input, or people have edited the list that would be replaced


@dataclass(frozen=True, slots=True)
class StageRun:
    """One battle of a rerun.

    Attributes:
        worker: The battle, and the stage or evaluator that runs again.
        rerun: Name of the rerun.
        model: Model that labels where the assigner runs; None for that of its settings.
    """

    worker: Worker
    rerun: str
    model: str | None = None

    @property
    def key(self) -> str:
        """The key of the event that the stage reads."""
        return derived_id("rerun", self.rerun, *self.worker)

    @property
    def reads(self) -> str:
        """Short name of that event."""
        evaluator = EVALUATORS.get(self.worker.evaluator)
        return PIPELINE[self.worker.stage].reads if evaluator is None else event_name(evaluator.reads)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The preferences of a battle before and after its run, by source, and whether the run has ended."""

    state: Branch
    before: dict[str, Vote]
    after: dict[str, Vote]


class StageRuns(Store):
    """Starts runs, and compares their results."""

    async def count(self, arena: str, since: datetime) -> int:
        """Number of battles of an arena that were received since a time and have ended.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        query = select(func.count()).select_from(battles).where(battles.c.arena == arena)
        query = query.where(battles.c.received_at >= since, battles.c.ended_at.is_not(None))
        return int(await self._database.scalar(query))

    async def start(self, run: StageRun, at: datetime) -> tuple[RunResult, BattleEvent | None]:
        """Record that a stage runs again on a battle.

        Returns:
            The result, and the event to publish where the run starts.

        Raises:
            Outage, Unavailable: The database does not answer; nothing was changed.
        """
        return await self._database.write(lambda connection: _start(connection, run, at))

    async def comparison(self, run: StageRun) -> Comparison | None:
        """What has changed by a run; None where the battle is not part of the rerun.

        Raises:
            Outage, Unavailable: The database does not answer.
        """

        def read(connection: Connection) -> tuple[int, Branch, list[RecordedEvent]] | None:
            begun: int | None = connection.scalar(_begun(run))
            if begun is None:
                return None
            recorded = read_events(connection, run.worker.battle_id, names=_STATING, texts=False)
            return begun, _state(connection, run.worker), recorded

        if (comparison := await self._database.read(read)) is None:
            return None
        begun, state, recorded = comparison
        before = _preferences(row for row in recorded if row.sequence < begun)
        return Comparison(state, before, _preferences(row for row in recorded if row.sequence > begun))


def _begun(run: StageRun) -> Select[Any]:
    """The number of the event with which the run began."""
    kind = next(kind for kind in EVENT_TYPES.values() if event_name(kind) == run.reads)
    return select(events.c.sequence).where(events.c.message_id == f"{kind.__name__}:{run.key}")


def _state(connection: Connection, worker: Worker) -> Branch:
    """Whether a run is pending, failed or done; an evaluator that leaves a battle out stays pending."""
    if worker.evaluator:
        query = select(work.c.state).where(
            *(work.c[name] == value for name, value in worker._asdict().items())
        )
    else:
        columns = [battles.c[name] for name in branches_of(worker.stage)]
        query = select(*columns).where(battles.c.id == worker.battle_id)
    states = connection.execute(query).one_or_none() or ()
    return next((state for state in (Branch.PENDING, Branch.FAILED) if state in states), Branch.DONE)


def _start(connection: Connection, run: StageRun, at: datetime) -> tuple[RunResult, BattleEvent | None]:
    worker = run.worker
    of_battle = battles.c.id == worker.battle_id
    locked = select(battles.c.ended_at).where(of_battle).with_for_update(key_share=True)
    battle = connection.execute(locked).one_or_none()
    if connection.scalar(_begun(run)) is not None:
        return RunResult.KNOWN, None
    if battle is not None and battle.ended_at is None:
        return RunResult.RUNNING, None
    try:
        event = _input(run, read_events(connection, worker.battle_id))
        outcomes = [] if event is None else outcomes_of(event, at)
    except (UndecodableMessage, Unscorable, zlib.error):
        log.exception("a recorded event of a battle cannot be read", battle_id=worker.battle_id)
        event = None
    if event is None:  # also where the battle was deleted meanwhile
        return RunResult.LEFT_OUT, None
    record_all(connection, [NewEvent.of(event, outcomes)], at)
    if pending := dict.fromkeys(branches_of(worker.stage), Branch.PENDING.value):
        connection.execute(update(battles).where(of_battle).values(**pending, ended_at=None))
    begin(connection, {worker: event.key}, at)
    return RunResult.STARTED, event


def _input(run: StageRun, recorded: Sequence[RecordedEvent]) -> BattleEvent | None:
    """What the stage reads; None where there is nothing, or where a list that people edited would be lost."""
    event = recorded_input(recorded, run.reads)
    if run.worker.stage in _REPLACING_LISTS:
        newest = recorded_input(recorded, event_name(BattleNuggetized))
        if isinstance(newest, BattleNuggetized) and newest.nugget_list.edit:
            return None
    if isinstance(event, BattleNuggetized):  # what people have corrected stays
        labels = event.labels and replace(
            event.labels,
            assignments=tuple(label for label in event.labels.assignments if label.correction),
        )
        labels = labels if labels and labels.assignments else None
        event = replace(event, labels=labels, label_model=run.model or event.label_model)
    return None if event is None else replace(event, key=run.key)


def _preferences(recorded: Iterable[RecordedEvent]) -> dict[str, Vote]:
    """The newest preference of each source, as these events state them."""
    winners: dict[str, Vote] = {}
    for row in recorded:
        if row.name == event_name(BattleAssigned):  # a newer list may decide nothing
            winners = {source: vote for source, vote in winners.items() if source not in _BY_NUGGETS}
        with suppress(UndecodableMessage, Unscorable):
            event = cast(BattleEvent, decode(row.schema, row.body))
            winners |= {outcome.source: outcome.winner for outcome in outcomes_of(event, row.recorded_at)}
    return winners
