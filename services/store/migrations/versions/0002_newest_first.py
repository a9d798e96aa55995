"""Indexes for the lists that show the newest battles and failures, of one arena or of all."""

from alembic import op

from services.store.online_indexes import index_later

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    index_later("ix_battles_received_at", "battles", ["received_at"])
    index_later("ix_failures_arena_failed_at", "failures", ["arena", "failed_at"])
    index_later("ix_failures_failed_at", "failures", ["failed_at"])


def downgrade() -> None:
    """Reverse."""
    op.drop_index("ix_failures_failed_at", table_name="failures", if_exists=True)
    op.drop_index("ix_failures_arena_failed_at", table_name="failures", if_exists=True)
    op.drop_index("ix_battles_received_at", table_name="battles", if_exists=True)
