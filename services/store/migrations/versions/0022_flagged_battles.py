"""Which battles have a flagged answer."""

import sqlalchemy as sa
from alembic import op

from services.store.online_indexes import index_later

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply. Battles that were received before are not examined."""
    op.add_column("battles", sa.Column("flagged", sa.Boolean(), server_default=sa.false(), nullable=False))
    index_later("ix_battles_flagged", "battles", ["arena", "received_at"], "flagged")


def downgrade() -> None:
    """Reverse."""
    op.drop_index("ix_battles_flagged", table_name="battles", if_exists=True)
    with op.batch_alter_table("battles", schema=None) as batch_op:
        batch_op.drop_column("flagged")
