"""How often a battle was republished, and indexes of the battles that have not ended."""

import sqlalchemy as sa
from alembic import op

from services.store.online_indexes import index_later

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_battles_running": "ended_at IS NULL",
    "ix_battles_unrecorded": "event_count = 0",
}


def upgrade() -> None:
    """Apply."""
    op.add_column("battles", sa.Column("republished", sa.Integer(), server_default="0", nullable=False))
    op.add_column("battles", sa.Column("republished_at", sa.DateTime(timezone=True), nullable=True))
    for name, condition in _INDEXES.items():
        index_later(name, "battles", ["received_at", "id"], condition)


def downgrade() -> None:
    """Reverse."""
    for name in _INDEXES:
        op.drop_index(name, table_name="battles", if_exists=True)
    with op.batch_alter_table("battles", schema=None) as batch_op:
        batch_op.drop_column("republished_at")
        batch_op.drop_column("republished")
