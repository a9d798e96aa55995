"""The table of edits.

nugget_edits    edits of nugget lists by people: who changed what, and why
"""

from sqlalchemy import JSON, Column, Integer, String, Table, Text

from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

nugget_edits = Table(
    "nugget_edits",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),  # of the list that it made
    Column("based_on", Integer, nullable=False),  # version of the list that it changed
    Column("key", String(64), nullable=False),  # hash of the edit as it was sent
    Column("author", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("changes", JSON, nullable=False),
    # The list of a nugget bank that it changed, if any.
    Column("bank", String(64)),
    Column("bank_version", Integer),
    Column("edited_at", UtcDateTime(), nullable=False),
)
