"""The table of question banks.

question_banks  the questions that answers to a query are graded on: one row per version

As with nugget banks, `battle_id` is the battle that brought the row, and further battles that use it are in
`content_users`.
"""

from sqlalchemy import Column, Index, Integer, String, Table

from services.store.compressed import CompressedBytes
from services.store.tables import metadata

question_banks = Table(
    "question_banks",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("query", String(32), nullable=False),  # its id
    Column("kind", String(20), nullable=False),
    Column("version", Integer, nullable=False),
    Column("settings", String(64), nullable=False),  # hash of what a version depends on
    Column("body", CompressedBytes, nullable=False),
    Column("battle_id", String(200), nullable=False, index=True),
    Index(None, "query", "kind", "version", unique=True),
    Index(None, "query", "settings", unique=True),
)
