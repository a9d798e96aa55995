"""Claims of processes on prompts that they ask the model, in a table that is not logged."""

from datetime import timedelta

from sqlalchemy import delete, func, or_

from services.store.database import Database
from services.store.tables import claims


class DatabaseClaims:
    """A `ClaimStore` in PostgreSQL, by whose clock claims end.

    The table is not in the write-ahead log, because a claim is worth less than a disk write: a server that
    crashes forgets all claims, and then a prompt may be paid for twice.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, key: str, owner: str, seconds: float) -> bool:
        """Take a claim for so many seconds, or extend one's own; False while another owner has it.

        Raises:
            Unavailable: The database does not answer.
        """
        until = func.now() + timedelta(seconds=seconds)
        statement = self._database.insert(claims).values(key=key, owner=owner, ends_at=until)
        statement = statement.on_conflict_do_update(
            index_elements=["key"],
            set_={"owner": owner, "ends_at": until},
            where=or_(claims.c.owner == owner, claims.c.ends_at < func.now()),
        )
        async with self._database.transaction() as tx:
            return bool((await tx.execute(statement)).rowcount)

    async def release(self, key: str, owner: str) -> None:
        """Give a claim back, if this owner has it.

        Raises:
            Unavailable: The database does not answer.
        """
        async with self._database.transaction() as tx:
            await tx.execute(delete(claims).where(claims.c.key == key, claims.c.owner == owner))
