"""The language and the age of chunks, and the transaction that wrote them, by which indexes find new ones."""

import sqlalchemy as sa
from alembic import op

from services.store.online_indexes import index_later
from services.store.utc_datetime import UtcDateTime

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_INDEX = "ix_chunks_transaction_number"


def upgrade() -> None:
    """Apply."""
    op.add_column("chunks", sa.Column("language", sa.String(length=35), nullable=True))
    op.add_column("chunks", sa.Column("fetched_at", UtcDateTime(), nullable=True))
    op.add_column("chunks", sa.Column("transaction_number", sa.BigInteger(), nullable=True))
    if op.get_context().dialect.name == "postgresql":
        # As a default of new rows alone: one of the new column would rewrite the table.
        default = "ALTER COLUMN transaction_number SET DEFAULT pg_current_xact_id()::text::bigint"
        op.execute(f"ALTER TABLE chunks {default}")
    index_later(_INDEX, "chunks", ["transaction_number"], "transaction_number IS NOT NULL")


def downgrade() -> None:
    """Reverse."""
    op.drop_index(_INDEX, table_name="chunks", if_exists=True)
    for name in ("transaction_number", "fetched_at", "language"):
        op.drop_column("chunks", name)
