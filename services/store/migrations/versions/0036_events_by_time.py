"""An index of events by time, for streams over many battles."""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_index(op.f("ix_events_recorded_at"), "events", ["recorded_at"])


def downgrade() -> None:
    """Reverse."""
    op.drop_index(op.f("ix_events_recorded_at"), table_name="events")
