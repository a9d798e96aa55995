"""The work that is pending: a row for each stage or evaluator from which a battle waits for a result.

    a battle is accepted       ->  the scraper has work
    an event is recorded       ->  the work of its publisher is done, and the stages that read it have work
    a stage gives up           ->  its branch has failed, and nobody has work on it any more
    a declared evaluator       ->  has work once its input is recorded, until it grades, judges or gives up;
                                   it leaves battles out without a word, and their rows stay pending
    a failed stage runs again  ->  it has work

The rows change in the transaction of what changes them, so a battle that waits for anything has a row,
whatever happened to its messages. `services.recorder.reconciler` publishes inputs that wait too long again.

Rows of stages are deleted once nothing waits for them. Those of evaluators stay with their last state, which
tells whether a failure is still open.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    Select,
    String,
    Table,
    bindparam,
    delete,
    insert,
    select,
    text,
    update,
)

from nuggetstream.domain import event as events
from nuggetstream.domain.pipeline import PIPELINE, Stage, stages_of
from nuggetstream.domain.progress import Branch
from services.store.batches import among, rows_of_keys
from services.store.database import Store, replacing
from services.store.schema import index_where, metadata
from services.store.utc_datetime import UtcDateTime
from services.wire.subjects import event_name

work = Table(
    "work",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("stage", String(40), primary_key=True),
    Column("evaluator", String(80), primary_key=True),  # empty for stages of the pipeline
    Column("state", String(16), nullable=False),  # a value of `Branch`
    Column("input", String(64), nullable=False),  # key of the event that it reads
    Column("attempts", Integer, nullable=False),  # how often the input was published again
    Column("waits_since", UtcDateTime(), nullable=False),  # since the input was recorded or published again
    index_where("state = 'pending' AND evaluator = ''", "ix_work_of_stages", "waits_since"),
    index_where("state = 'pending' AND evaluator <> ''", "ix_work_of_evaluators", "waits_since"),
)

_KEY = ("battle_id", "stage", "evaluator")
_OF_ROW = [work.c[name] == bindparam(f"of_{name}") for name in _KEY]
_DELETE = delete(work).where(*_OF_ROW)
_CHANGE = update(work).where(*_OF_ROW).values(state=bindparam("now"))
_OF_BATTLES = select(*(work.c[name] for name in (*_KEY, "state"))).where(among(work.c.battle_id))
# In the words of the conditions of the indexes, which SQLite compares.
_OF_STAGES, _OF_EVALUATORS = (
    text("state = 'pending' AND evaluator = ''"),
    text("state = 'pending' AND evaluator <> ''"),
)
_NO_WORK = events.BattleVoted | events.BattleSubmitted  # the latter is noted by `begin`


class Worker(NamedTuple):
    """Who has work on a battle: a stage of the pipeline, or an evaluator."""

    battle_id: str
    stage: Stage
    evaluator: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that is pending.

    Attributes:
        worker: Who has it.
        input: Key of the event that it reads.
        attempts: How often its input was published again.
        waits_since: When its input was recorded, or published again.
    """

    worker: Worker
    input: str
    attempts: int
    waits_since: datetime


class PendingWork(Store):
    """The work that waits for too long."""

    async def waiting(self, before: datetime, limit: int) -> list[Pending]:
        """The work of stages that has waited since before a time, the longest first.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        return await self._read(select(work).where(_OF_STAGES, work.c.waits_since < before).limit(limit))

    async def ungraded(
        self, evaluators: Collection[str], after: datetime, before: datetime, limit: int
    ) -> list[Pending]:
        """The work of these evaluators that has waited since a time between two others, the longest first.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        waits = work.c.waits_since
        query = select(work).where(_OF_EVALUATORS, waits > after, waits < before)
        return await self._read(query.where(work.c.evaluator.in_(sorted(evaluators))).limit(limit))

    async def _read(self, query: Select[Any]) -> list[Pending]:
        return [
            Pending(
                worker=Worker(row.battle_id, Stage(row.stage), row.evaluator),
                input=row.input,
                attempts=row.attempts,
                waits_since=row.waits_since,
            )
            for row in await self._database.rows(query.order_by(work.c.waits_since))
        ]

    async def count_attempt(self, pending: Pending, at: datetime) -> bool:
        """Count that the input was published again; False when another process was faster, or it is done.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        same = {"state": Branch.PENDING.value, "attempts": pending.attempts, "input": pending.input}
        row = update(work).where(*_OF_ROW, *(work.c[name] == value for name, value in same.items()))
        row = row.values(attempts=pending.attempts + 1, waits_since=at)
        return bool(await self._database.execute(row, _row_key(pending.worker)))


def begin(connection: Connection, inputs: Mapping[Worker, str], at: datetime) -> None:
    """Note that work begins, also where it was done or had failed before.

    Args:
        connection: A transaction in which the battles are new or locked.
        inputs: The key of the event that each worker reads.
        at: The time now.
    """
    if rows := [_row(*work_item, Branch.PENDING, at) for work_item in sorted(inputs.items())]:
        connection.execute(replacing(connection.dialect.name, work), rows)


def note_work(
    connection: Connection,
    recorded: Iterable[tuple[events.BattleEvent, Collection[str]]],
    branches: Mapping[str, Collection[str]],
    at: datetime,
) -> None:
    """Change the work of battles by what is recorded of them.

    Args:
        connection: The transaction, in which the rows of the battles are locked.
        recorded: Events in order, each with the names of the declared evaluators that read it.
        branches: The branches of each battle that are pending after these events.
        at: Time of the recording.
    """
    happened = [happening for happening in recorded if not isinstance(happening[0], _NO_WORK)]
    ids = sorted({events.battle_id_of(event) for event, _ in happened})
    if not ids:
        return
    stored = {
        Worker(row.battle_id, Stage(row.stage), row.evaluator): Branch(row.state)
        for row in rows_of_keys(connection, _OF_BATTLES, ids)
    }
    states = dict(stored)
    inputs: dict[Worker, str] = {}
    for event, evaluators in happened:
        for worker, state in _ended_by(event):
            if state is None:
                states.pop(worker, None)
            elif states.get(worker) is not Branch.DONE:  # no failure undoes grades
                states[worker] = state
        for worker in _readers(event, evaluators):
            states.setdefault(worker, Branch.PENDING)
            inputs.setdefault(worker, event.key)
    states = _without_superseded(states, branches)
    _write(connection, stored, states, inputs, at)


def _ended_by(event: events.BattleEvent) -> list[tuple[Worker, Branch | None]]:
    """Whose work an event ends, and its state; None where no row stays."""
    battle_id = events.battle_id_of(event)
    if isinstance(event, events.BattleGraded):
        return [(Worker(battle_id, Stage.GRADER, event.grading.evaluator), Branch.DONE)]
    if isinstance(event, events.BattleJudged) and event.judgment.additional:
        return [(Worker(battle_id, Stage.GRADER, event.judgment.evaluator), Branch.DONE)]
    if isinstance(event, events.BattleFailed) and event.failure.stage is Stage.GRADER:
        return [(Worker(battle_id, Stage.GRADER, event.failure.evaluator or ""), Branch.FAILED)]
    publishers = [stage for stage, step in PIPELINE.items() if step.publishes == event_name(type(event))]
    return [(Worker(battle_id, stage), None) for stage in publishers]


def _readers(event: events.BattleEvent, evaluators: Collection[str]) -> list[Worker]:
    battle_id = events.battle_id_of(event)
    stages = [stage for stage, step in PIPELINE.items() if step.reads == event_name(type(event))]
    return [
        *(Worker(battle_id, stage) for stage in stages),
        *(Worker(battle_id, Stage.GRADER, name) for name in evaluators),
    ]


def _without_superseded(
    states: Mapping[Worker, Branch], branches: Mapping[str, Collection[str]]
) -> dict[Worker, Branch]:
    """Without the work of stages that no pending branch needs, because a later stage has work on it.

    Events can be recorded in another order than they happened, and of a battle that was restored from a
    backup only the later ones are.
    """
    stages: dict[str, set[Stage]] = defaultdict(set)
    for worker in states:
        if worker.stage is not Stage.GRADER:
            stages[worker.battle_id].add(worker.stage)
    needed = {
        Worker(battle_id, latest)
        for battle_id, listed in stages.items()
        for branch in branches[battle_id]
        if (latest := _latest(branch, listed)) is not None
    }
    return {
        worker: state for worker, state in states.items() if worker.stage is Stage.GRADER or worker in needed
    }


def _latest(branch: str, stages: Collection[Stage]) -> Stage | None:
    return next((stage for stage in reversed(stages_of(branch)) if stage in stages), None)


def _write(
    connection: Connection,
    stored: Mapping[Worker, Branch],
    states: Mapping[Worker, Branch],
    inputs: Mapping[Worker, str],
    at: datetime,
) -> None:
    gone = sorted(stored.keys() - states.keys())
    new = sorted(states.keys() - stored.keys())
    changed = sorted(worker for worker, state in states.items() if stored.get(worker, state) is not state)
    if gone:
        connection.execute(_DELETE, [_row_key(worker) for worker in gone])
    if new:
        rows = [_row(worker, inputs.get(worker, ""), states[worker], at) for worker in new]
        connection.execute(insert(work), rows)
    if changed:
        connection.execute(_CHANGE, [_row_key(worker) | {"now": states[worker].value} for worker in changed])


def _row_key(worker: Worker) -> dict[str, str]:
    return {
        "of_battle_id": worker.battle_id,
        "of_stage": worker.stage.value,
        "of_evaluator": worker.evaluator,
    }


def _row(worker: Worker, key: str, state: Branch, at: datetime) -> dict[str, Any]:
    row: dict[str, Any] = {name: str(value) for name, value in zip(_KEY, worker, strict=True)}
    return row | {"state": state.value, "input": key, "attempts": 0, "waits_since": at}
