"""Edits of nugget lists by people, stored in one transaction with the event that begins the new labelling.

    an edit  ->  is the list still the one that it is based on?  ->  a row, the event of the new list, and the
                                                                     nugget branch of its battle is pending

The event is recorded before it is published, and waits in the outbox until it is. So a broker that is away
loses no edit, and whatever runs the battle again finds the edited list as the newest one.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, func, insert, select, update

from nuggetstream.domain.nugget import BankVersion
from nuggetstream.domain.nugget_edit import NuggetChange, RecordedEdit
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import Branch
from services.store.battles.edit_tables import nugget_edits
from services.store.battles.recording import NewEvent, record_all
from services.store.database import Store
from services.store.tables import battles
from services.store.work import outbox
from services.store.work.pending import Worker, begin

_CHANGES: TypeAdapter[tuple[NuggetChange, ...]] = TypeAdapter(tuple[NuggetChange, ...])


class EditResult(StrEnum):
    """What became of an edit."""

    ADDED = "added"
    OUTDATED = "outdated"  # another edit came first
    RUNNING = "running"  # the battle has not ended
    UNKNOWN = "unknown"  # there is no such battle


@dataclass(frozen=True, slots=True)
class NewEdit:
    """An edit to be stored.

    Attributes:
        battle_id: Id of the battle.
        key: Hash of the edit as it was sent.
        recorded: The edit.
        event: The event of the edited list.
    """

    battle_id: str
    key: str
    recorded: RecordedEdit
    event: NewEvent


class NuggetEdits(Store):
    """The edits of all battles. They are deleted with their battle."""

    async def of_battle(self, battle_id: str) -> list[RecordedEdit]:
        """The edits of a battle, oldest first.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        query = select(nugget_edits).where(nugget_edits.c.battle_id == battle_id)
        query = query.order_by(nugget_edits.c.version)
        return [_edit(row) for row in await self._database.rows(query)]

    async def newest_with(self, battle_id: str, key: str) -> RecordedEdit | None:
        """The newest edit of a battle if it has this key; None if it is another one, or there is none.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        query = select(nugget_edits).where(nugget_edits.c.battle_id == battle_id)
        newest = query.order_by(nugget_edits.c.version.desc()).limit(1)
        row = await self._database.row(newest)
        return _edit(row) if row is not None and row.key == key else None

    async def add(self, new: NewEdit) -> EditResult:
        """Store an edit, and record and publish the event of the edited list, unless another edit came first.

        The event is put in the outbox; publishing it right after the commit is up to the caller.

        Raises:
            Outage, Unavailable: The database does not answer; nothing was stored.
        """
        return await self._database.write(lambda connection: _add(connection, new))


def _add(connection: Connection, new: NewEdit) -> EditResult:
    of_battle = battles.c.id == new.battle_id
    locked = select(battles.c.ended_at).where(of_battle).with_for_update(key_share=True)
    battle = connection.execute(locked).one_or_none()
    if battle is None:
        return EditResult.UNKNOWN
    edits = nugget_edits.c.battle_id == new.battle_id
    newest = select(func.max(nugget_edits.c.version)).where(edits)
    if battle.ended_at is None:
        return EditResult.RUNNING
    if (connection.scalar(newest) or 1) != new.recorded.version - 1:
        return EditResult.OUTDATED
    connection.execute(insert(nugget_edits), _row(new))
    record_all(connection, [new.event], new.recorded.edited_at)
    pending = {"nugget_state": Branch.PENDING.value, "ended_at": None}
    connection.execute(update(battles).where(of_battle).values(pending))
    begin(connection, {Worker(new.battle_id, Stage.ASSIGNER): new.event.event.key}, new.recorded.edited_at)
    outbox.put(connection, [new.event.event])
    return EditResult.ADDED


def _row(new: NewEdit) -> dict[str, Any]:
    edit = new.recorded
    bank = (None, None) if edit.left is None else (edit.left.bank, edit.left.version)
    return {
        "battle_id": new.battle_id,
        "version": edit.version,
        "based_on": edit.based_on,
        "key": new.key,
        "author": edit.author,
        "reason": edit.reason,
        "changes": [asdict(change) for change in edit.changes],
        "bank": bank[0],
        "bank_version": bank[1],
        "edited_at": edit.edited_at,
    }


def _edit(row: Any) -> RecordedEdit:
    return RecordedEdit(
        version=row.version,
        based_on=row.based_on,
        author=row.author,
        reason=row.reason,
        changes=_CHANGES.validate_python(row.changes),
        edited_at=row.edited_at,
        left=None if row.bank is None else BankVersion(row.bank, row.bank_version),
    )
