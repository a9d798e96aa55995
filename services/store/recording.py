"""Recording events: several of them, of any battles, are stored in one transaction.

    events ─> lock their battles ─> which are stored already? ─> number the rest, move the branches ─> write
                                                                 outcomes that they state ─> write and count

What follows from an event is stored in its transaction: a verdict, vote or list with labels that is recorded
is counted.
Seven statements per transaction, however many events it stores, and as many more for events that state
outcomes; a few more where there are several judges or nuggetizers, or where people voted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from nuggetstream.domain import event as core
from nuggetstream.domain.progress import BattleState, Branch, state_of
from services.runtime.errors import InvalidInput
from services.store import pending_votes
from services.store.declared_states import DeclaredStates, Names, several
from services.store.event_bodies import NumberedEvent, bodies_to_store
from services.store.grader_states import note_graders
from services.store.label_agreement import note_labels
from services.store.outcome import Outcome
from services.store.outcome_writing import put_all
from services.store.progress import branches_moved
from services.store.tables import battles, events, failures


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be recorded.

    Attributes:
        message_id: Its message id; an event whose id is stored already is not stored again.
        name: Short name of the event, such as "scraped".
        event: The decoded event, from which the state of the battle is updated.
        schema: Schema of `body`.
        body: The encoded event, never a reference.
        outcomes: The outcomes that it states.
    """

    message_id: str
    name: str
    event: core.BattleEvent
    schema: str
    body: bytes
    outcomes: Sequence[Outcome] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a battle.

    Attributes:
        state: How it ended.
        received_at: When it had been accepted.
    """

    state: BattleState
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event was recorded.

    Attributes:
        sequence: Its number within its battle, from 1.
        ended: The end of the battle, if this event ended it.
    """

    sequence: int
    ended: Ended | None


@dataclass(slots=True)
class _Progress:
    """The columns of a battle that events change."""

    received_at: datetime
    event_count: int
    nugget_state: str
    judge_state: str
    ended_at: datetime | None

    def apply(self, event: core.BattleEvent, at: datetime, states: Sequence[DeclaredStates]) -> Recorded:
        """Count an event and move the branches that it ends."""
        self.event_count += 1
        decided = set()
        for each in states:
            if (of_all := each.branch_after(event, Branch(getattr(self, each.column)))) is not None:
                setattr(self, each.column, of_all.value)
                decided.add(each.column)
        for column, branch in branches_moved(event):
            if column in decided:
                continue
            # A later success overrides a failure (a retried battle); a late failure does not undo a success.
            allowed = (Branch.PENDING, Branch.FAILED) if branch is Branch.DONE else (Branch.PENDING,)
            if getattr(self, column) in allowed:
                setattr(self, column, branch.value)
        state = state_of(Branch(self.nugget_state), Branch(self.judge_state))
        if self.ended_at is not None or state is BattleState.RUNNING:
            return Recorded(self.event_count, None)
        self.ended_at = at
        return Recorded(self.event_count, Ended(state, self.received_at))


Recording = Recorded | LookupError | InvalidInput | None
_COLUMNS = ("event_count", "nugget_state", "judge_state", "ended_at")
_ACCEPTED = ("arena", "system_a", "system_b")
_LOCKED = (
    select(
        battles.c.id,
        battles.c.received_at,
        battles.c.body,
        *(battles.c[name] for name in (*_COLUMNS, *_ACCEPTED)),
    )
    .where(battles.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(battles.c.id)  # in one order, so that two recorders cannot deadlock
    .with_for_update(key_share=True)
)
_KNOWN = select(events.c.message_id).where(events.c.message_id.in_(bindparam("ids", expanding=True)))
_MOVE = (
    update(battles)
    .where(battles.c.id == bindparam("battle"))
    .values({name: bindparam(f"new_{name}") for name in _COLUMNS} | {"republished": 0})
)


def record_all(
    connection: Connection, new: Sequence[NewEvent], at: datetime, names: Names = MappingProxyType({})
) -> list[Recording]:
    """Append events to their battles, update the states of the battles, and count the outcomes.

    The rows of the battles are locked, so that the events of a battle are numbered without gaps and in commit
    order, even with several recorders.

    Args:
        connection: Connection in a transaction; in SQLite one that may write.
        new: The events, in order.
        at: Time of the recording.
        names: Names of the declared judges and nuggetizers; none for a single one.

    Returns:
        For each event None when it had been recorded before, LookupError when its battle is not stored, and
        InvalidInput when it states an outcome of another arena or of other systems than those of its battle.
    """
    ids = {core.battle_id_of(each.event) for each in new}
    rows = connection.execute(_LOCKED, {"ids": sorted(ids)}).mappings().all()
    moving = {row["id"]: _Progress(**{name: row[name] for name in _Progress.__slots__}) for row in rows}
    accepted = {row["id"]: tuple(row[name] for name in _ACCEPTED) for row in rows}
    states = several(names, connection, moving)
    known = set(connection.scalars(_KNOWN, {"ids": [each.message_id for each in new]}))
    results: list[Recording] = []
    numbered: list[NumberedEvent] = []
    event_rows, failure_rows, moved = [], [], set[str]()
    stored: list[NewEvent] = []
    for each in new:
        battle_id = core.battle_id_of(each.event)
        if battle_id not in moving:
            results.append(LookupError(f"battle {battle_id!r} is not in the database"))
            continue
        if any((said.arena, said.system_a, said.system_b) != accepted[battle_id] for said in each.outcomes):
            other = f"battle {battle_id!r} was accepted with another arena or other systems"
            results.append(InvalidInput(other))
            continue
        if each.message_id in known:
            results.append(None)
            continue
        known.add(each.message_id)
        moved.add(battle_id)
        recorded = moving[battle_id].apply(each.event, at, states)
        stored.append(each)
        results.append(recorded)
        numbered.append(NumberedEvent(battle_id, recorded.sequence, each.name, each.schema, each.body))
        event_rows.append(_event_row(each, battle_id, recorded.sequence, at))
        if isinstance(each.event, core.BattleFailed):
            failure_rows.append(_failure_row(each.event, at))
    if moved:
        bodies = bodies_to_store(connection, numbered, {row["id"]: row["body"] for row in rows})
        event_rows = [row | {"body": body} for row, body in zip(event_rows, bodies, strict=True)]
        connection.execute(insert(events), event_rows)
        connection.execute(_MOVE, [_move_row(battle_id, moving[battle_id]) for battle_id in sorted(moved)])
    for of_branch in states:
        of_branch.write()
    note_graders(connection, [each.event for each in stored])
    _insert_failures(connection, failure_rows)
    # Counters in one order, as deletions change them, so that two transactions cannot deadlock.
    note_labels(connection, [each.event for each in stored])
    put_all(connection, [outcome for each in stored for outcome in each.outcomes])
    pending_votes.forget_stored(
        connection, {each.event.battle_id for each in new if isinstance(each.event, core.BattleVoted)}
    )
    return results


def _event_row(new: NewEvent, battle_id: str, sequence: int, at: datetime) -> dict[str, Any]:
    row: dict[str, Any] = {"message_id": new.message_id, "battle_id": battle_id, "sequence": sequence}
    return row | {"name": new.name, "schema": new.schema, "recorded_at": at}


def _move_row(battle_id: str, progress: _Progress) -> dict[str, Any]:
    return {"battle": battle_id} | {f"new_{name}": getattr(progress, name) for name in _COLUMNS}


def _failure_row(event: core.BattleFailed, at: datetime) -> dict[str, Any]:
    failure = event.failure
    row: dict[str, Any] = {"key": event.key, "battle_id": event.battle_id, "arena": event.arena}
    row |= {"stage": failure.stage.value, "reason": failure.reason.value, "failed_at": at}
    row |= {"detail": _storable(failure.detail), "attempts": failure.attempts}
    row |= {"evaluator": failure.evaluator}
    return row | {"admin_detail": None if failure.admin_detail is None else _storable(failure.admin_detail)}


def _insert_failures(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert failures whose keys are not stored."""
    if not rows:
        return
    keys = select(failures.c.key).where(failures.c.key.in_([row["key"] for row in rows]))
    known = set(connection.scalars(keys))
    if new := [row for row in {row["key"]: row for row in rows}.values() if row["key"] not in known]:
        connection.execute(insert(failures), new)


def _storable(text: str) -> str:
    """The text without NUL, which PostgreSQL cannot store."""
    return text.replace("\x00", "\ufffd")
