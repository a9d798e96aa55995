"""Failures that an operator discarded."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("failures", sa.Column("discarded_at", UtcDateTime()))


def downgrade() -> None:
    """Reverse."""
    with op.batch_alter_table("failures") as table:
        table.drop_column("discarded_at")
