"""An index of events by time, for streams over many battles."""

from alembic import op

from services.store.online_indexes import index_later

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    index_later("ix_events_recorded_at", "events", ["recorded_at"])


def downgrade() -> None:
    """Reverse."""
    op.drop_index("ix_events_recorded_at", table_name="events", if_exists=True)
