"""Votes that were cast and are not yet recorded and counted."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "pending_votes",
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("vote", sa.String(8), nullable=False),
        sa.Column("voted_at", UtcDateTime(), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=False),
        sa.Column("republished", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", name="pk_pending_votes"),
    )
    op.create_index("ix_pending_votes_due_at", "pending_votes", ["due_at"])


def downgrade() -> None:
    """Reverse. Votes that wait are in the streams, too."""
    op.drop_table("pending_votes")
