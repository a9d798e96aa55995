"""Many battles with what their answers state and miss, and nothing else of them.

    rows of battles  ->  their nuggets with both labels, and the causes of misses

A battle takes milliseconds to read and explain, so its nuggets are kept until another event is recorded.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleAssigned, BattleRetrieved
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.domain.snapshot import BattleSnapshot, snapshot_of
from nuggetstream.nuggets.explanation import explain
from services.gateway.battles.verdicts import vital_first
from services.store.battles.battles import BattleRow
from services.store.battles.labelled_events import LabelledEvents, StoredLabels
from services.wire.codec import decode_alone

_KEPT = 5_000  # battles; with a dozen nuggets each, some 10 MB per thousand


@dataclass(frozen=True, slots=True)
class Label:
    """Whether an answer states a nugget, and why it misses it; None where that is not known."""

    support: Support
    cause: Cause | None


@dataclass(frozen=True, slots=True)
class LabelledNugget:
    """A nugget with its labels.

    Attributes:
        text: The fact.
        number: Its number on the page of the battle.
        is_vital: Whether it is vital.
        is_unconfirmed: Whether only an answer states it, or it is disputed.
        labels: Its labels, as far as there are any.
    """

    text: str
    number: int
    is_vital: bool
    is_unconfirmed: bool
    labels: Mapping[Side, Label]


@dataclass(frozen=True, slots=True)
class LabelledBattle:
    """A battle with its nuggets; there are none before it has labels."""

    row: BattleRow
    nuggets: tuple[LabelledNugget, ...]


@dataclass(slots=True)
class LabelledBattles:
    """Reads the labels of battles, and keeps those read last.

    Attributes:
        events: Reads their events.
        kept: Number of battles whose labels are kept.
    """

    events: LabelledEvents
    kept: int = _KEPT
    _known: OrderedDict[str, tuple[int, tuple[LabelledNugget, ...]]] = field(
        default_factory=OrderedDict, init=False
    )
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def of(self, rows: Sequence[BattleRow]) -> list[LabelledBattle]:
        """The battles in the same order, without those that were deleted meanwhile.

        Raises:
            Unavailable: The database does not answer.
        """
        async with self._turn:  # so that several readers of one system do the work once
            unknown = [row.id for row in rows if self._known.get(row.id, (None,))[0] != row.event_count]
            stored = await self.events.of(unknown)
            labelled = await asyncio.to_thread(_labelled, stored)
            for row in rows:
                if row.id in labelled:
                    self._known[row.id] = (row.event_count, labelled[row.id])
                elif row.id in unknown:
                    self._known.pop(row.id, None)
                if row.id in self._known:
                    self._known.move_to_end(row.id)
            of_rows = [LabelledBattle(row, self._known[row.id][1]) for row in rows if row.id in self._known]
            while len(self._known) > self.kept:
                self._known.popitem(last=False)
        return of_rows


def _labelled(stored: Mapping[str, StoredLabels]) -> dict[str, tuple[LabelledNugget, ...]]:
    return {battle_id: _nuggets(snapshot) for battle_id, snapshot in stored.items()}


def _nuggets(stored: StoredLabels) -> tuple[LabelledNugget, ...]:
    events = [cast(BattleRetrieved | BattleAssigned, decode_alone(*event)) for event in stored.values()]
    return labelled_nuggets(snapshot_of(events[-1].battle, events)) if events else ()


def labelled_nuggets(snapshot: BattleSnapshot) -> tuple[LabelledNugget, ...]:
    """The nuggets of a battle with their labels, in the order of its page; none before there are labels."""
    if snapshot.nugget_list is None or snapshot.assignments is None:
        return ()
    causes = {(miss.nugget.id, miss.side): miss.cause for miss in explain(snapshot).misses}
    labels: dict[str, dict[Side, Label]] = {}
    for assignment in snapshot.assignments:
        label = Label(assignment.support, causes.get((assignment.nugget_id, assignment.side)))
        labels.setdefault(assignment.nugget_id, {})[assignment.side] = label
    return tuple(
        LabelledNugget(
            text=nugget.text,
            number=number,
            is_vital=nugget.importance is Importance.VITAL,
            is_unconfirmed=nugget.is_unconfirmed,
            labels=labels.get(nugget.id, {}),
        )
        for number, nugget in enumerate(vital_first(snapshot.nugget_list.nuggets), start=1)
    )
