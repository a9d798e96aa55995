"""Indexes for the lists that show the newest battles and failures, of one arena or of all."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_index(op.f("ix_battles_received_at"), "battles", ["received_at"], unique=False)
    op.create_index(op.f("ix_failures_arena_failed_at"), "failures", ["arena", "failed_at"], unique=False)
    op.create_index(op.f("ix_failures_failed_at"), "failures", ["failed_at"], unique=False)


def downgrade() -> None:
    """Reverse."""
    op.drop_index(op.f("ix_failures_failed_at"), table_name="failures")
    op.drop_index(op.f("ix_failures_arena_failed_at"), table_name="failures")
    op.drop_index(op.f("ix_battles_received_at"), table_name="battles")
