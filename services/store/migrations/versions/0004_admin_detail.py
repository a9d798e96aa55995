"""What the other side said when a stage failed, for administrators."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("failures", sa.Column("admin_detail", sa.Text(), nullable=True))


def downgrade() -> None:
    """Reverse."""
    op.drop_column("failures", "admin_detail")
