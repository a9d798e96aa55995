"""Nugget lists and labels that battles share, and which battle uses which."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from nuggetstream.domain.identity import derived_id
from services.store.content.bank_tables import nugget_labels, nugget_lists
from services.store.content.shared import add_user, insert_content, lock_content, rows_to_use
from services.store.database import Store, insert_into
from services.store.sqlite_threads import Each
from services.store.tables import content_users

# Built once: for a short query, building takes longer than executing.
_NEWEST = (
    select(nugget_lists.c.step, nugget_lists.c.started_at, nugget_lists.c.body)
    .where(nugget_lists.c.bank == bindparam("bank"))
    .order_by(nugget_lists.c.step.desc())
    .limit(1)
)
_OF_BATTLE = select(content_users.c.key).where(content_users.c.battle_id == bindparam("battle"))
_USED = _NEWEST.where(
    or_(nugget_lists.c.battle_id == bindparam("battle"), nugget_lists.c.key.in_(_OF_BATTLE))
)
_LABELS = (
    select(nugget_labels.c.key, nugget_labels.c.body, nugget_labels.c.battle_id)
    .where(nugget_labels.c.subject == bindparam("subject"))
    .order_by(nugget_labels.c.key)
)


@dataclass(frozen=True, slots=True)
class StoredList:
    """One step of a nugget bank.

    Attributes:
        step: Its number in the bank, from 1.
        started_at: When the first of the lists was created that grew into this one.
        body: The list, as the nuggetizer encodes it.
    """

    step: int
    started_at: datetime
    body: bytes


class NuggetLists(Store):
    """The lists of all nugget banks. A list is deleted with the last battle that uses it."""

    async def used_and_newest(self, bank: str, battle_id: str) -> tuple[StoredList | None, StoredList | None]:
        """The list that a battle uses already, and the newest list of the bank.

        Returns:
            None for a battle that uses none, and None for a bank without any.

        Raises:
            Outage, Unavailable: The database does not answer.
        """

        def read(connection: Connection) -> tuple[StoredList | None, StoredList | None]:
            newest = connection.execute(_NEWEST, {"bank": bank}).one_or_none()
            if newest is None:
                return None, None
            used = connection.execute(_USED, {"bank": bank, "battle": battle_id}).one_or_none()
            return None if used is None else _stored(used), _stored(newest)

        return await self._database.read(read)

    async def use(self, bank: str, step: int, battle_id: str) -> bool:
        """Store that a battle uses a list.

        Returns:
            False when the list has been deleted.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        key = _key(bank, step)
        row = nugget_lists.c.key == key

        def use(connection: Connection) -> bool:
            lock_content(connection, [key])
            add_user(connection, nugget_lists, row, battle_id)
            return connection.scalar(select(nugget_lists.c.key).where(row)) is not None

        return await self._database.write(use)

    async def add(self, bank: str, stored: StoredList, battle_id: str) -> bool:
        """Add a list to a bank, which the battle uses.

        Returns:
            False when the bank has a list with this number already.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        row = {"key": _key(bank, stored.step), "bank": bank, "step": stored.step, "body": stored.body}
        row |= {"started_at": stored.started_at, "battle_id": battle_id}

        def add(connection: Connection) -> bool:
            statement = insert_into(connection.dialect.name, nugget_lists).on_conflict_do_nothing()
            return bool(connection.execute(statement.returning(nugget_lists.c.key), row).all())

        return await self._database.write(add)


class NuggetLabels(Store):
    """Labels of answers for the nuggets of banks. They are deleted with the last battle that uses them."""

    async def get(self, subject: str, battle_id: str) -> list[bytes]:
        """What was stored for a subject, which the battle uses from now on.

        Args:
            subject: An answer, as one model labels it for one bank.
            battle_id: The battle.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        named = {"subject": subject}
        rows = await rows_to_use(self._database, nugget_labels, _LABELS, named, battle_id)
        return [row.body for row in rows]

    async def put(self, subject: str, nuggets: Sequence[str], body: bytes, battle_id: str) -> None:
        """Store the labels of some nuggets, unless they are stored already.

        Args:
            subject: As for `get`.
            nuggets: Ids of the nuggets.
            body: The labels.
            battle_id: The battle that brought them.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        key = derived_id("nugget labels", subject, sorted(nuggets))
        row = {"key": key, "subject": subject, "body": body, "battle_id": battle_id}
        await self._database.write(Each(_put_labels, row))


def _put_labels(connection: Connection, rows: Sequence[dict[str, Any]]) -> Sequence[None]:
    insert_content(connection, nugget_labels, rows)
    return [None] * len(rows)


def _stored(row: Any) -> StoredList:
    return StoredList(row.step, row.started_at, row.body)


def _key(bank: str, step: int) -> str:
    return derived_id("nugget list", bank, step)
