"""Claims of processes on prompts that they ask the model, in a table that is not logged."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import ARRAY, ColumnElement, String, any_, delete, func, literal, or_, select
from sqlalchemy.dialects.postgresql import insert

from services.runtime.polling import keep_at
from services.store.database import Store
from services.store.tables import claims

_SWEEP_INTERVAL = 60.0  # seconds between two sweeps
_SWEEP_AGE = timedelta(hours=1)
_SWEEP_LIMIT = 1000  # rows per sweep


class DatabaseClaims(Store):
    """A `ClaimStore` in PostgreSQL, by whose clock claims end.

    The table is not in the write-ahead log, because a claim is worth less than a disk write: a server that
    crashes forgets all claims, and then a prompt may be paid for twice.
    """

    async def take(self, keys: Collection[str], owner: str, seconds: float) -> set[str]:
        """Take or extend claims for so many seconds, and return those keys that no other owner has.

        Raises:
            Unavailable: The database does not answer.
        """
        until = func.now() + timedelta(seconds=seconds)
        key = func.unnest(_array(sorted(keys))).column_valued("new")  # sorted, so without deadlocks
        new = insert(claims).from_select(["key", "owner", "ends_at"], select(key, literal(owner), until))
        statement = new.on_conflict_do_update(
            index_elements=["key"],
            set_={"owner": owner, "ends_at": until},
            where=or_(claims.c.owner == owner, claims.c.ends_at < func.now()),
        ).returning(claims.c.key)
        return await self._database.write(lambda connection: set(connection.scalars(statement)))

    async def release(self, keys: Collection[str], owner: str) -> None:
        """Give those claims back that this owner has.

        Raises:
            Unavailable: The database does not answer.
        """
        named = claims.c.key == any_(_array(list(keys)))
        await self._database.execute(delete(claims).where(named, claims.c.owner == owner))

    async def sweep(self, age: timedelta = _SWEEP_AGE, limit: int = _SWEEP_LIMIT) -> int:
        """Delete claims that ended some time ago, which killed processes have left behind.

        Args:
            age: Time since their end.
            limit: Maximum number of claims deleted at once.

        Returns:
            Number of claims deleted.

        Raises:
            Unavailable: The database does not answer.
        """
        over = claims.c.ends_at < func.now() - age
        # Tested again at the deletion, since a process may have taken the claim again meanwhile.
        oldest = select(claims.c.key).where(over).order_by(claims.c.ends_at).limit(limit)
        return await self._database.execute(delete(claims).where(claims.c.key.in_(oldest), over))

    async def sweep_regularly(self, stop: asyncio.Event) -> None:
        """Sweep every minute until `stop` is set."""
        await keep_at(self.sweep, _SWEEP_INTERVAL, stop, "claims that are over are not deleted now")


def _array(keys: list[str]) -> ColumnElement[list[str]]:
    """Keys as one parameter: a statement has at most 32,767, and a battle can have more new chunks."""
    return literal(keys, ARRAY(String))
