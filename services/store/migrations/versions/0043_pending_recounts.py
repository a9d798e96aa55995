"""Whether a migration left counters to be filled."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    recounts = op.create_table(
        "recounts",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pending", sa.Boolean(), nullable=False),
        sa.Column("corrections", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recounts")),
    )
    op.bulk_insert(recounts, [{"id": 1, "pending": False, "corrections": 0}])


def downgrade() -> None:
    """Reverse."""
    op.drop_table("recounts")
