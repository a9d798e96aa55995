"""The tables of chunks.

chunks          runs of sentences of the pages, for each arena whose battles cite the page
vectors         their embeddings, one per text and model
removed_chunks  chunks that were deleted, for indexes in memory
"""

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, String, Table, Text

from services.store.schema import index_where, metadata, on_postgresql
from services.store.utc_datetime import UtcDateTime

_HASH = String(64)
_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up INTEGER keys only

chunks = Table(
    "chunks",
    metadata,
    Column("position", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", _HASH, nullable=False, unique=True),
    Column("arena", String(200), nullable=False),
    Column("content_hash", _HASH, nullable=False, index=True),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text),
    Column("span", LargeBinary),  # instead of the text: where it is in the page; see `chunk_texts.py`
    Column("text_hash", _HASH, nullable=False),
    Column("language", String(35)),
    Column("language_confidence", Float),  # of a detected language; NULL for a declared one
    Column("fetched_at", UtcDateTime()),
    Column("transaction_number", BigInteger),  # that wrote the row; NULL in SQLite
    index_where("transaction_number IS NOT NULL", "ix_chunks_transaction_number", "transaction_number"),
)
on_postgresql(
    chunks,
    "ALTER TABLE %(table)s ALTER transaction_number SET DEFAULT pg_current_xact_id()::text::bigint",
)

vectors = Table(
    "vectors",
    metadata,
    Column("text_hash", _HASH, primary_key=True),
    Column("model", String(120), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("read_share", Float),  # of a text that is longer than the model reads; else NULL
)

removed_chunks = Table(
    "removed_chunks",
    metadata,
    Column("number", _NUMBER, primary_key=True),
    Column("id", _HASH, nullable=False),
)
