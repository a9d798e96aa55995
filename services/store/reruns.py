"""Running failed battles again: the input of each failed stage is published once more.

    failures of a battle  ->  its failed stages  ->  their recorded inputs under new keys

A new key makes a new run: every result and failure of the run has a key of its own, so neither the broker nor
the recorder takes it for a duplicate of the first run. Model calls that were paid for are answered from the
reply cache.
"""

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, cast

import structlog
from sqlalchemy import Connection, bindparam, or_, select, update

from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, branches_of
from nuggetstream.domain.progress import Branch
from services.store.event_reading import RecordedEvent, read_events, read_submission
from services.store.inputs import first_input
from services.store.tables import battles, failures
from services.store.text_references import Filled
from services.wire.codec import UndecodableMessage, decode

log = structlog.get_logger(__name__)

_STATES = (
    select(*(battles.c[name] for name in BRANCHES))
    .where(battles.c.id.in_(bindparam("ids", expanding=True)), battles.c.ended_at.is_not(None))
    .where(or_(*(battles.c[name] == Branch.FAILED.value for name in BRANCHES)))
    .order_by(battles.c.id)  # in one order, so that two transactions cannot deadlock
    .with_for_update(key_share=True)
)
_FAILED = _STATES.with_only_columns(battles.c.id)
_FIRST = "submitted"


@dataclass(frozen=True, slots=True)
class Restart:
    """A stage that has to run again, and the failures that are the reason.

    Attributes:
        stage: The stage.
        failures: Keys of its failures; they identify the run, so that restarting twice is one run.
    """

    stage: Stage
    failures: tuple[str, ...]


def run_again(
    connection: Connection, battle_ids: Collection[str], at: datetime
) -> dict[str, list[BattleEvent]]:
    """Set the failed branches of battles that have ended back to pending.

    Args:
        connection: Connection in a transaction; in SQLite one that may write.
        battle_ids: Ids of battles, of which any may be running, scored or unknown.
        at: The time now, from which on the new runs may be quiet before they are republished.

    Returns:
        For each battle that runs again the events that start its new run, which have to be published.
    """
    failed = connection.scalars(_FAILED, {"ids": sorted(battle_ids)}).all()
    runs: dict[str, list[BattleEvent]] = {}
    for battle_id in failed:
        try:
            with connection.begin_nested():
                restarts = restart_failed(connection, battle_id, at)
                runs[battle_id] = _events(connection, battle_id, restarts)
        except (UndecodableMessage, zlib.error):
            log.exception("a recorded event of a battle cannot be read", battle_id=battle_id)
    return runs


def restart_failed(connection: Connection, battle_id: str, at: datetime) -> list[Restart]:
    """Set the failed branches of an ended battle back to pending.

    Args:
        connection: Connection in a transaction.
        battle_id: Id of the battle.
        at: As in `run_again`.

    Returns:
        The stages that have to run again; none where nothing of the battle has failed, or where it runs.
    """
    states = connection.execute(_STATES, {"ids": [battle_id]}).mappings().one_or_none()
    if states is None:
        return []
    columns = [name for name in BRANCHES if states[name] == Branch.FAILED.value]
    reset: dict[str, Any] = dict.fromkeys(columns, Branch.PENDING.value)
    of_battle = battles.c.id == battle_id
    connection.execute(
        update(battles).where(of_battle).values(**reset, ended_at=None, republished=0, republished_at=at)
    )
    query = select(failures.c.key, failures.c.stage).where(failures.c.battle_id == battle_id)
    rows = connection.execute(query.order_by(failures.c.failed_at.desc(), failures.c.key))
    return _restarts(columns, [_Failure(row.key, Stage(row.stage)) for row in rows])


class _Failure(NamedTuple):
    key: str
    stage: Stage


def _restarts(pending: Sequence[str], rows: Sequence[_Failure]) -> list[Restart]:
    """For each pending branch the stage that ended it last; a stage that ended both runs once."""
    stages: dict[Stage, list[str]] = {}
    for column in pending:
        newest = next((row for row in rows if column in branches_of(row.stage)), None)
        if newest is None:
            continue
        if newest.key not in stages.setdefault(newest.stage, []):
            stages[newest.stage].append(newest.key)
    return [Restart(stage, tuple(keys)) for stage, keys in stages.items()]


def _events(connection: Connection, battle_id: str, restarts: Sequence[Restart]) -> list[BattleEvent]:
    """The inputs of stages under keys that are the same whenever they are made for the same failures."""
    submission = read_submission(connection, battle_id) or Filled(b"", complete=True)
    recorded = {event.name: event for event in read_events(connection, battle_id) if event.complete}
    return [
        replace(event, key=derived_id(event.key, "run after", sorted(set(keys))))
        for name, keys in _by_input(restarts, recorded).items()
        for event in [_input(name, recorded, submission)]
    ]


def _by_input(restarts: Sequence[Restart], recorded: Mapping[str, RecordedEvent]) -> dict[str, list[str]]:
    """The events to publish, each with the failures that are the reason; stages may share an event."""
    by_input: dict[str, list[str]] = {}
    for restart in restarts:
        step = PIPELINE.get(restart.stage)
        name = _FIRST if step is None else step.reads
        by_input.setdefault(name if name in recorded else _FIRST, []).extend(restart.failures)
    return by_input


def _input(name: str, recorded: Mapping[str, RecordedEvent], submission: Filled) -> BattleEvent:
    """The newest recorded event with a name, or the submission."""
    if (newest := recorded.get(name)) is None:
        return first_input(submission)
    return cast(BattleEvent, decode(newest.schema, newest.body))
