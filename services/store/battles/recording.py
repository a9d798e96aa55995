"""Recording events: several of them, of any battles, are stored in one transaction.

    events ─> lock their battles ─> which are stored already? ─> number the rest, move the branches ─> write
                                                                 outcomes that they state ─> write and count

What follows from an event is stored in its transaction: a verdict, vote or list with labels that is recorded
is counted. The events are written last, because their positions make other transactions wait.
The number of statements does not grow with the number of events.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from nuggetstream.domain import event as core
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import BRANCHES
from nuggetstream.domain.progress import BattleState, Branch, state_of
from services.runtime.errors import InvalidInput
from services.store.battles.event_bodies import EncodedEvent, bodies_to_store
from services.store.battles.event_tail import take_positions
from services.store.battles.votes import note_votes
from services.store.outcomes.label_agreement import note_labels
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcome_writing import put_all
from services.store.tables import battles, events, failures
from services.store.work.pending import note_work
from services.store.work.progress import branches_moved
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name


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
        evaluators: Names of the declared evaluators that read it.
    """

    message_id: str
    name: str
    event: core.BattleEvent
    schema: str
    body: bytes
    outcomes: Sequence[Outcome] = ()
    evaluators: Collection[str] = ()

    @classmethod
    def of(
        cls,
        event: core.BattleEvent,
        outcomes: Sequence[Outcome] = (),
        *,
        evaluators: Collection[str] = (),
        stored_as: core.BattleEvent | None = None,
    ) -> "NewEvent":
        """An event with its message id and its encoded form.

        Args:
            event: The event.
            outcomes: The outcomes that it states.
            evaluators: Names of the declared evaluators that read it.
            stored_as: The event as it is stored for clients, where it differs.
        """
        kind = type(event)
        return cls(
            message_id=message_id(event),
            name=event_name(kind),
            event=event,
            schema=schema_of(kind),
            body=encode(stored_as or event),
            outcomes=outcomes,
            evaluators=evaluators,
        )


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
    """An event is recorded.

    Attributes:
        sequence: Its number within its battle, from 1.
        ended: The end of the battle, if this event ended it.
        known: Whether it had been recorded before, so that nothing was changed.
    """

    sequence: int
    ended: Ended | None = None
    known: bool = False


@dataclass(slots=True)
class _Progress:
    """The columns of a battle that events change."""

    received_at: datetime
    event_count: int
    nugget_state: str
    judge_state: str
    ended_at: datetime | None

    def pending(self) -> list[str]:
        """The branches that are pending."""
        return [name for name in BRANCHES if getattr(self, name) == Branch.PENDING]

    def apply(self, event: core.BattleEvent, at: datetime) -> Recorded:
        """Count an event and move the branches that it ends."""
        self.event_count += 1
        for column, branch in branches_moved(event):
            # A later success overrides a failure (a retried battle); a late failure does not undo a success.
            allowed = (Branch.PENDING, Branch.FAILED) if branch is Branch.DONE else (Branch.PENDING,)
            if getattr(self, column) in allowed:
                setattr(self, column, branch.value)
        state = state_of(Branch(self.nugget_state), Branch(self.judge_state))
        if self.ended_at is not None or state is BattleState.RUNNING:
            return Recorded(self.event_count)
        self.ended_at = at
        return Recorded(self.event_count, Ended(state, self.received_at))


Recording = Recorded | LookupError | InvalidInput
_COLUMNS = ("event_count", "nugget_state", "judge_state", "ended_at")
_ACCEPTED = ("arena", "system_a", "system_b", "carried_hash")
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
_KNOWN = select(events.c.message_id, events.c.sequence).where(
    events.c.message_id.in_(bindparam("ids", expanding=True))
)
_MOVE = (
    update(battles)
    .where(battles.c.id == bindparam("battle"))
    .values({name: bindparam(f"new_{name}") for name in _COLUMNS})
)


def record_all(connection: Connection, new: Sequence[NewEvent], at: datetime) -> list[Recording]:
    """Append events to their battles, update the states of the battles, and count the outcomes.

    The rows of the battles are locked, so that the events of a battle are numbered without gaps and in commit
    order, even with several recorders.

    Args:
        connection: Connection in a transaction; in SQLite one that may write.
        new: The events, in order.
        at: Time of the recording.

    Returns:
        For each event its number, LookupError when its battle is not stored, and InvalidInput when it carries
        another battle than the accepted one, or states an outcome of another arena or of other systems.
    """
    ids = {core.battle_id_of(new_event.event) for new_event in new}
    rows = {row["id"]: row for row in connection.execute(_LOCKED, {"ids": sorted(ids)}).mappings()}
    moving = {
        key: _Progress(**{name: row[name] for name in _Progress.__slots__}) for key, row in rows.items()
    }
    known_rows = connection.execute(_KNOWN, {"ids": [new_event.message_id for new_event in new]})
    sequences = {row.message_id: row.sequence for row in known_rows}
    results: list[Recording] = []
    stored: list[tuple[NewEvent, Recorded]] = []
    for new_event in new:
        battle_id = core.battle_id_of(new_event.event)
        if (problem := _problem(new_event, rows.get(battle_id))) is not None:
            results.append(problem)
        elif new_event.message_id in sequences:
            results.append(Recorded(sequences[new_event.message_id], known=True))
        else:
            recorded = moving[battle_id].apply(new_event.event, at)
            sequences[new_event.message_id] = recorded.sequence
            results.append(recorded)
            stored.append((new_event, recorded))
    moved = sorted({core.battle_id_of(new_event.event) for new_event, _ in stored})
    if moved:
        connection.execute(_MOVE, [_move_row(battle_id, moving[battle_id]) for battle_id in moved])
    happened = [new_event.event for new_event, _ in stored]
    pending = {battle_id: moving[battle_id].pending() for battle_id in moved}
    note_work(connection, [(new_event.event, new_event.evaluators) for new_event, _ in stored], pending, at)
    _insert_failures(connection, [_failure_row(e, at) for e in happened if isinstance(e, core.BattleFailed)])
    # Counters in one order, as deletions change them, so that two transactions cannot deadlock.
    note_labels(connection, happened)
    preferred = note_votes(connection, [event for event in happened if isinstance(event, core.BattleVoted)])
    stated = [outcome for new_event, _ in stored for outcome in new_event.outcomes]
    common = [preferred[outcome.battle_id] if outcome.lens is Lens.HUMAN else outcome for outcome in stated]
    put_all(connection, common, _labelled(happened))
    _write_events(connection, stored, {key: row["body"] for key, row in rows.items()}, at)
    return results


def _labelled(happened: Iterable[core.BattleEvent]) -> dict[str, int]:
    """The newest version of the nugget list that was labelled, by battle."""
    lists = [(e.battle.id, e.nugget_list.version) for e in happened if isinstance(e, core.BattleAssigned)]
    return dict(sorted(lists))


def _problem(new: NewEvent, battle: RowMapping | None) -> LookupError | InvalidInput | None:
    """Why an event cannot be recorded; None where it can."""
    battle_id = core.battle_id_of(new.event)
    if battle is None:
        return LookupError(f"battle {battle_id!r} is not in the database")
    *accepted, carried = (battle[name] for name in _ACCEPTED)
    if any([outcome.arena, outcome.system_a, outcome.system_b] != accepted for outcome in new.outcomes):
        return InvalidInput(f"battle {battle_id!r} was accepted with another arena or other systems")
    if core.arena_of(new.event) != accepted[0]:
        return InvalidInput(f"battle {battle_id!r} was accepted in another arena")
    carried_now = core.carried_battle(new.event)
    if carried_now is not None and carried_now.carried_hash() != carried:
        return InvalidInput(f"battle {battle_id!r} was accepted with other content")
    return None


def _write_events(
    connection: Connection,
    stored: Sequence[tuple[NewEvent, Recorded]],
    battle_bodies: Mapping[str, bytes],
    at: datetime,
) -> None:
    if not stored:
        return
    encoded = [EncodedEvent(core.battle_id_of(new.event), new.schema, new.body) for new, _ in stored]
    bodies = bodies_to_store(connection, encoded, battle_bodies)
    positions = take_positions(connection, len(stored))
    rows = [
        _event_row(new, recorded.sequence, at) | {"body": body, "position": position}
        for (new, recorded), body, position in zip(stored, bodies, positions, strict=True)
    ]
    connection.execute(insert(events), rows)


def _event_row(new: NewEvent, sequence: int, at: datetime) -> dict[str, Any]:
    row: dict[str, Any] = {"message_id": new.message_id, "battle_id": core.battle_id_of(new.event)}
    return row | {"sequence": sequence} | {"name": new.name, "schema": new.schema, "recorded_at": at}


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
    stored = set(connection.scalars(keys))
    if new := [row for row in {row["key"]: row for row in rows}.values() if row["key"] not in stored]:
        connection.execute(insert(failures), new)


def _storable(text: str) -> str:
    """The text without NUL, which PostgreSQL cannot store."""
    return text.replace("\x00", "\ufffd")
