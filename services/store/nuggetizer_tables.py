"""The table of the states of nuggetizers per battle, where several are declared."""

from sqlalchemy import Column, String, Table

from services.store.schema import metadata

nuggetizer_states = Table(
    "nuggetizer_states",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("evaluator", String(80), primary_key=True),
    Column("state", String(16), nullable=False),
)
