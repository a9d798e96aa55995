"""Running failed battles again: the input of each failed stage is published once more.

    failures of a battle  ->  its failed stages  ->  their recorded inputs under new keys

A new key makes a new run: every result and failure of the run has a key of its own, so neither the broker nor
the recorder takes it for a duplicate of the first run. Model calls that were paid for are answered from the
reply cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from nuggetstream.domain.event import BattleEvent, Event
from nuggetstream.domain.failure import Stage
from nuggetstream.domain.identity import derived_id
from services.store.battles import Battles
from services.store.event_reading import RecordedEvent
from services.store.inputs import first_input
from services.store.reruns import Restart
from services.store.text_references import Filled
from services.wire.codec import decode

# Short name of the event that each stage reads.
_INPUT: Mapping[Stage, str] = {
    Stage.SCRAPER: "submitted",
    Stage.INDEXER: "scraped",
    Stage.RETRIEVER: "indexed",
    Stage.NUGGETIZER: "retrieved",
    Stage.ASSIGNER: "nuggetized",
    Stage.JUDGE: "retrieved",
}
_FIRST = "submitted"


async def rerun_events(battles: Battles, battle_id: str) -> list[Event]:
    """Set a failed battle back to running, and return the events that start its new run.

    Returns:
        Events to publish; none where nothing of the battle has failed, or where it still runs.

    Raises:
        Unavailable: The database does not answer.
    """
    restarts = await battles.restart_failed(battle_id, datetime.now(UTC))
    if not restarts:
        return []
    submission = await battles.submission(battle_id)
    stored = [event for event in await battles.events_of(battle_id) if event.complete]
    recorded = {event.name: event for event in stored}  # the newest of each
    inputs = [
        (_input(name, recorded, submission), keys) for name, keys in _by_input(restarts, recorded).items()
    ]
    return [
        replace(event, key=derived_id(event.key, "run after", sorted(set(keys)))) for event, keys in inputs
    ]


def _by_input(restarts: Sequence[Restart], recorded: Mapping[str, RecordedEvent]) -> dict[str, list[str]]:
    """The events to publish, each with the failures that are the reason; stages may share an event."""
    by_input: dict[str, list[str]] = {}
    for restart in restarts:
        name = _INPUT.get(restart.stage, _FIRST)
        by_input.setdefault(name if name in recorded else _FIRST, []).extend(restart.failures)
    return by_input


def _input(name: str, recorded: Mapping[str, RecordedEvent], submission: Filled | None) -> BattleEvent:
    """The newest recorded event with a name, or the submission.

    The caller gives it a key that is the same whenever it is made for the same failures.
    """
    if (newest := recorded.get(name)) is None:
        return first_input(submission or Filled(b"", complete=True))
    return cast(BattleEvent, decode(newest.schema, newest.body))
