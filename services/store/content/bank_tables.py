"""The tables of nugget banks.

nugget_lists    the lists of nugget banks: one row per step, which adds nuggets or only answers that were read
nugget_labels   labels of answers for the nuggets of a bank

As with blobs and replies, `battle_id` is the battle that brought the row, and further battles that use it are
in `content_users`.
"""

from sqlalchemy import Column, Index, Integer, String, Table

from services.store.compressed import CompressedBytes
from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

nugget_lists = Table(
    "nugget_lists",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("bank", String(64), nullable=False),
    Column("step", Integer, nullable=False),
    Column("body", CompressedBytes, nullable=False),
    Column("started_at", UtcDateTime(), nullable=False),  # of the first of the lists that grew into this one
    Column("battle_id", String(200), nullable=False, index=True),
    Index(None, "bank", "step", unique=True),
)

nugget_labels = Table(
    "nugget_labels",
    metadata,
    Column("key", String(64), primary_key=True),
    Column(
        "subject", String(64), nullable=False, index=True
    ),  # an answer, as one model labels it for one bank
    Column("body", CompressedBytes, nullable=False),
    Column("battle_id", String(200), nullable=False, index=True),
)
