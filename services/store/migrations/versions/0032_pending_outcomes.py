"""Outcomes of recorded events that are not yet counted, and which event an outcome is of."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply. Events that are recorded already are not waited for."""
    op.add_column("outcomes", sa.Column("event_key", sa.String(8)))
    op.create_table(
        "pending_outcomes",
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("source", sa.String(80), nullable=False),
        sa.Column("event_key", sa.String(8), nullable=False),
        sa.Column("list_version", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=False),
        sa.Column("republished", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "source", name="pk_pending_outcomes"),
    )
    op.create_index("ix_pending_outcomes_published_at", "pending_outcomes", ["published_at"])


def downgrade() -> None:
    """Reverse. What waits is in the streams, too."""
    op.drop_table("pending_outcomes")
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.drop_column("event_key")
