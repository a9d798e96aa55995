"""Editing the nugget list of a battle: only labels of new texts are asked for, unless a person wants all.
A label that a person sets is asked of no model.

    an edit  ->  a row and the event of the new list in the database  ->  BattleNuggetized

The event has the labels of all nuggets whose text stays, so the assigner asks for those of new texts only.
Where all are asked for, it has those that a person set, which stay.
Everything behind it follows: BattleAssigned, and from it scores, outcome and boards.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import assert_never

from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Assignment, AssignmentSet, vital_first
from nuggetstream.domain.nugget_edit import NuggetEdit, RecordedEdit
from nuggetstream.nuggets.editing import Edited, InvalidEdit, edited, with_label
from nuggetstream.nuggets.grounding import with_grounds
from services.gateway.admission import Admission
from services.gateway.battles.intake import known_row
from services.gateway.battles.relay import Relay
from services.gateway.errors import InvalidQuery, NothingToEdit, OutdatedVersion, StillRunning, UnknownBattle
from services.store.battles.battles import Battles
from services.store.battles.nugget_edits import EditResult, NewEdit, NuggetEdits
from services.store.battles.recording import NewEvent
from services.wire.codec import decode, inline, reference_to
from services.wire.subjects import event_name

Listed = BattleNuggetized | BattleAssigned


@dataclass(frozen=True, slots=True)
class Editor:
    """Edits nugget lists.

    Attributes:
        battles: Battles and their events.
        edits: The edits in the database.
        relay: Publishes the events of edits.
        admission: Whether anything can be accepted now.
        clock: The time now.
    """

    battles: Battles
    edits: NuggetEdits
    relay: Relay
    admission: Admission
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def current(self, battle_id: str) -> Listed:
        """The event with the list that an edit can be based on: the newest with labels.

        Raises:
            UnknownBattle: There is no such battle.
            NothingToEdit: It has no list.
            Unavailable: The database does not answer.
        """
        await known_row(self.battles, battle_id)
        nuggetized: BattleNuggetized | None = None
        assigned: BattleAssigned | None = None
        for stored in await self.battles.events_of(battle_id):
            if stored.name == event_name(BattleNuggetized):
                event = decode(stored.schema, stored.body)
                if isinstance(event, BattleNuggetized):
                    nuggetized = event
            elif stored.name == event_name(BattleAssigned):
                event = decode(stored.schema, stored.body)
                if isinstance(event, BattleAssigned) and _is_as_new(event, assigned):
                    assigned = event
        if nuggetized is None:
            raise NothingToEdit(battle_id)
        return assigned or nuggetized

    async def edit(self, battle_id: str, edit: NuggetEdit) -> RecordedEdit:
        """Edit the list of a battle that has ended. The same edit sent again is the same edit.

        Raises:
            UnknownBattle: There is no such battle.
            NothingToEdit: It has no list.
            OutdatedVersion: The edit is based on another version than the newest with labels.
            StillRunning: The battle has not ended.
            InvalidQuery: An operation cannot be made.
            Unavailable: The database does not answer; sending the edit again is safe.
        """
        await self.admission.require()
        key = derived_id("nuggets edited", battle_id, asdict(edit))
        current = await self.current(battle_id)
        edits = await self.edits.of_battle(battle_id)
        if (earlier := await self.edits.newest_with(battle_id, key)) is not None:
            return earlier
        if edit.version != current.nugget_list.version:
            raise OutdatedVersion(battle_id, edit.version, current.nugget_list.version)
        try:
            changed = edited(current.nugget_list.nuggets, edit.operations, key, correctable(current))
        except InvalidEdit as error:
            raise InvalidQuery(error.problems) from None
        recorded = RecordedEdit(
            version=edits[-1].version + 1 if edits else 2,
            based_on=edit.version,
            author=edit.author,
            reason=edit.reason,
            changes=changed.changes,
            edited_at=self.clock(),
            left=current.nugget_list.bank,
        )
        event = _event(current, changed, recorded, key)
        event = _grounded(event, await self._evidence(battle_id))
        match await self.edits.add(NewEdit(battle_id, key, recorded, NewEvent.of(event))):
            case EditResult.ADDED:
                message = inline(event)
                await self.relay.publish([reference_to(message) or message])
                return recorded
            case EditResult.UNKNOWN:  # deleted meanwhile
                raise UnknownBattle(battle_id)
            case EditResult.RUNNING:
                raise StillRunning(battle_id, "edit its nuggets")
            case EditResult.OUTDATED:
                raise OutdatedVersion(battle_id, edit.version, recorded.version)
            case never:
                assert_never(never)

    async def _evidence(self, battle_id: str) -> tuple[Evidence, ...]:
        """The chunks that were retrieved for a battle; none before it has any."""
        evidence: tuple[Evidence, ...] = ()
        for stored in await self.battles.events_of(battle_id):
            if stored.name == event_name(BattleRetrieved):
                event = decode(stored.schema, stored.body)
                evidence = event.evidence if isinstance(event, BattleRetrieved) else evidence
        return evidence


def _is_as_new(event: BattleAssigned, labelled: BattleAssigned | None) -> bool:
    return labelled is None or labelled.nugget_list.edit <= event.nugget_list.edit


def correctable(current: Listed) -> tuple[Assignment, ...]:
    """The labels that a person can correct; that an empty answer states nothing is not one of them."""
    if not isinstance(current, BattleAssigned):
        return ()
    battle, labels = current.battle, current.assignment_set.assignments
    return tuple(label for label in labels if battle.answer(label.side).text.strip())


def _event(current: Listed, changed: Edited, recorded: RecordedEdit, key: str) -> BattleNuggetized:
    """The event of an edited list, which belongs to its battle alone."""
    labels = _labels(current, changed, recorded)
    listed = replace(current.nugget_list, nuggets=changed.nuggets, edit=recorded.version - 1, bank=None)
    new_key = derived_id(current.key, "edited", key, recorded.version)
    return BattleNuggetized(new_key, current.battle, listed, labels, changed.model)


def _labels(current: Listed, changed: Edited, recorded: RecordedEdit) -> AssignmentSet | None:
    """The labels that stay or that the edit sets; None where all are asked for."""
    if not isinstance(current, BattleAssigned):
        return None
    ids, labels = {nugget.id for nugget in changed.nuggets}, current.assignment_set
    now = (
        label
        if (to := changed.labels.get((label.nugget_id, label.side))) is None
        else with_label(label, to, recorded.author, recorded.reason)
        for label in labels.assignments
    )
    kept = [label for label in now if label.nugget_id in ids and (label.correction or not changed.reassigned)]
    return None if changed.reassigned and not kept else replace(labels, assignments=tuple(kept))


def _grounded(event: BattleNuggetized, evidence: tuple[Evidence, ...]) -> BattleNuggetized:
    """The event with the grounding of new texts. Where a nugget was read says nothing about new words."""
    listed = event.nugget_list
    new = [nugget for nugget in listed.nuggets if nugget.grounds is None]
    grounded = {nugget.id: nugget for nugget in with_grounds(new, evidence, event.battle, windows=True)}
    nuggets = vital_first(grounded.get(nugget.id, nugget) for nugget in listed.nuggets)
    return replace(event, nugget_list=replace(listed, nuggets=nuggets))
