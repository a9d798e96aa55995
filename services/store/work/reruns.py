"""Running failed battles again: the input of each failed stage is published once more.

    failures of a battle  ->  its failed stages  ->  their recorded inputs under new keys

A new key makes a new run: every result and failure of the run has a key of its own, so neither the broker nor
the recorder takes it for a duplicate of the first run. Model calls that were paid for are answered from the
reply cache.
"""

import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, bindparam, or_, select, update

from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, branches_of
from nuggetstream.domain.progress import Branch
from services.store.battles.event_reading import read_events, read_submission
from services.store.battles.inputs import first_input, recorded_input
from services.store.content.text_references import Filled
from services.store.tables import battles, failures
from services.store.work.pending import Worker, begin
from services.wire.codec import UndecodableMessage

log = structlog.get_logger(__name__)

_STATES = (
    select(*(battles.c[name] for name in BRANCHES))
    .where(battles.c.id.in_(bindparam("ids", expanding=True)), battles.c.ended_at.is_not(None))
    .where(or_(*(battles.c[name] == Branch.FAILED.value for name in BRANCHES)))
    .order_by(battles.c.id)  # in one order, so that two transactions cannot deadlock
    .with_for_update(key_share=True)
)
_FAILED = _STATES.with_only_columns(battles.c.id)
_FIRST = Stage.SCRAPER  # which reads the submission


def run_again(
    connection: Connection, battle_ids: Collection[str], at: datetime
) -> dict[str, list[BattleEvent]]:
    """Set the failed branches of battles that have ended back to pending.

    Args:
        connection: Connection in a transaction; in SQLite one that may write.
        battle_ids: Ids of battles, of which any may be running, scored or unknown.
        at: The time now.

    Returns:
        For each battle that runs again the events that start its new run, which have to be published.
    """
    failed = connection.scalars(_FAILED, {"ids": sorted(battle_ids)}).all()
    runs: dict[str, list[BattleEvent]] = {}
    for battle_id in failed:
        try:
            with connection.begin_nested():
                restarts = restart_failed(connection, battle_id)
                inputs = _inputs(connection, battle_id, restarts)
                begin(connection, {Worker(battle_id, stage): event.key for stage, event in inputs}, at)
                runs[battle_id] = list({event.key: event for _, event in inputs}.values())
        except (UndecodableMessage, zlib.error):
            log.exception("a recorded event of a battle cannot be read", battle_id=battle_id)
    return runs


def restart_failed(connection: Connection, battle_id: str) -> dict[Stage, set[str]]:
    """Set the failed branches of an ended battle back to pending.

    Args:
        connection: Connection in a transaction.
        battle_id: Id of the battle.

    Returns:
        The stages that have to run again, which ended a branch last, each with the keys of its failures; they
        identify the run, so that restarting twice is one run. None where nothing of the battle has failed,
        or where it runs.
    """
    states = connection.execute(_STATES, {"ids": [battle_id]}).mappings().one_or_none()
    if states is None:
        return {}
    columns = [name for name in BRANCHES if states[name] == Branch.FAILED.value]
    reset: dict[str, Any] = dict.fromkeys(columns, Branch.PENDING.value)
    of_battle = battles.c.id == battle_id
    connection.execute(update(battles).where(of_battle).values(**reset, ended_at=None))
    query = select(failures.c.key, failures.c.stage).where(failures.c.battle_id == battle_id)
    rows = connection.execute(query.order_by(failures.c.failed_at.desc(), failures.c.key)).all()
    restarts: dict[Stage, set[str]] = defaultdict(set)
    for column in columns:
        newest = next((row for row in rows if column in branches_of(Stage(row.stage))), None)
        if newest is not None:
            restarts[Stage(newest.stage)].add(newest.key)
    return restarts


def _inputs(
    connection: Connection, battle_id: str, restarts: Mapping[Stage, set[str]]
) -> list[tuple[Stage, BattleEvent]]:
    """What each stage has to read again, under keys that follow from the failures.

    A stage whose input was never recorded begins with the first stage. Stages may share an event.
    """
    submission = read_submission(connection, battle_id) or Filled(b"", complete=True)
    recorded = read_events(connection, battle_id)
    causes: dict[str, set[str]] = defaultdict(set)
    stages: dict[Stage, str] = {}
    inputs: dict[str, BattleEvent] = {}
    for failed, keys in restarts.items():
        stage = failed if failed in PIPELINE else _FIRST
        event = recorded_input(recorded, PIPELINE[stage].reads)
        stage = _FIRST if event is None else stage
        stages[stage] = reads = PIPELINE[stage].reads
        causes[reads] |= keys
        inputs[reads] = first_input(submission) if event is None else event
    again = {
        reads: replace(event, key=derived_id(event.key, "run after", sorted(causes[reads])))
        for reads, event in inputs.items()
    }
    return [(stage, again[reads]) for stage, reads in stages.items()]
