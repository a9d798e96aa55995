"""The tables of the log of model calls.

calls         one row per attempt, and per reply that needed no call
call_prompts  the prompts of a battle, each once, without what is stored elsewhere (see `call_prompts.py`)
call_texts    texts of the platform that prompts share, such as instructions; nothing of a battle
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table, Text

from services.store.compressed import CompressedBytes
from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

calls = Table(
    "calls",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("battle_id", String(200), nullable=False, index=True),
    Column("stage", String(40), nullable=False),
    Column("evaluator", String(80)),
    Column("task", String(80), nullable=False),
    Column("model", String(200), nullable=False),
    Column("endpoint", String(200)),
    Column("reply_key", String(64), nullable=False),  # in the table of replies
    Column("prompt", LargeBinary, nullable=False),  # digest of the prompt
    Column("repair", Boolean, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("seconds", Float),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cached_input_tokens", BigInteger),
    Column("picos", BigInteger),  # as in `spend`
    Column("currency", String(3)),
    Column("source", String(16)),
    Column("reply", CompressedBytes),  # NULL where it is in the table of replies
    Column("detail", Text),
    Column("at", UtcDateTime(), nullable=False, index=True),
)

call_prompts = Table(
    "call_prompts",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("at", UtcDateTime(), nullable=False, index=True),
)

call_texts = Table(
    "call_texts",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("body", CompressedBytes, nullable=False),
)
