"""Question banks that battles share, and which battle uses which version."""

from dataclasses import replace

from pydantic import TypeAdapter
from sqlalchemy import Connection, bindparam, func, select

from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.question_bank import QuestionBank
from services.store.content.question_tables import question_banks
from services.store.content.shared import rows_to_use
from services.store.database import Store, insert_into

_BODY: TypeAdapter[QuestionBank] = TypeAdapter(QuestionBank)
_COLUMNS = question_banks.c
_MADE_BY = select(_COLUMNS.body, _COLUMNS.key, _COLUMNS.battle_id).where(
    _COLUMNS.query == bindparam("of_query"), _COLUMNS.settings == bindparam("made_by")
)


class StoredQuestionBanks(Store):
    """All versions of all question banks. A version is deleted with the last battle that uses it."""

    async def get(self, query_id: str, settings: str, battle_id: str) -> QuestionBank | None:
        """The version that these settings made, which the battle uses from now on; None where there is none.

        Args:
            query_id: Id of the query.
            settings: Hash of what a version depends on.
            battle_id: The battle.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        named = {"of_query": query_id, "made_by": settings}
        for row in await rows_to_use(self._database, question_banks, _MADE_BY, named, battle_id):
            return _BODY.validate_json(row.body)
        return None

    async def add(self, bank: QuestionBank, settings: str, battle_id: str) -> QuestionBank:
        """Store a bank as the next version of its query, unless these settings have made one meanwhile.

        Args:
            bank: The bank; its version is replaced.
            settings: See `get`.
            battle_id: The battle that brought it.

        Returns:
            The stored version.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        newest = select(func.max(_COLUMNS.version)).where(
            _COLUMNS.query == bank.query_id, _COLUMNS.kind == bank.kind.value
        )

        def add(connection: Connection) -> QuestionBank | None:
            next_version = replace(bank, version=(connection.scalar(newest) or 0) + 1)
            row = {
                "key": derived_id("question bank", bank.query_id, bank.kind.value, next_version.version),
                "query": bank.query_id,
                "kind": bank.kind.value,
                "version": next_version.version,
                "settings": settings,
                "body": _BODY.dump_json(next_version),
                "battle_id": battle_id,
            }
            statement = insert_into(connection.dialect.name, question_banks).on_conflict_do_nothing()
            added = connection.execute(statement.returning(_COLUMNS.key), row).all()
            return next_version if added else None

        while True:
            stored = await self._database.write(add)
            if stored is None:  # another process stored one of this query at the same time
                stored = await self.get(bank.query_id, settings, battle_id)
            if stored is not None:
                return stored
