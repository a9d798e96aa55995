"""The table of what model calls cost.

cost_counters   booked model calls per day, arena, API key, stage, model and currency
"""

from sqlalchemy import BigInteger, Column, Date, Integer, String, Table

from services.store.tables import metadata

COST_COLUMNS = ("calls", "input_tokens", "output_tokens", "picos")

cost_counters = Table(
    "cost_counters",
    metadata,
    Column("day", Date, primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),  # as in `spend_counters`
    Column("arena", String(200), primary_key=True),  # empty for battles that were deleted before
    Column("key_name", String(200), primary_key=True),  # empty where none is known
    Column("stage", String(40), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("currency", String(3), primary_key=True),  # empty for calls without a price
    *(Column(name, BigInteger, nullable=False) for name in COST_COLUMNS),
)
