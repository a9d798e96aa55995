"""The share of a text that its embedding model read, where it is less than all."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("vectors", sa.Column("read_share", sa.Float(), nullable=True))


def downgrade() -> None:
    """Reverse."""
    op.drop_column("vectors", "read_share")
