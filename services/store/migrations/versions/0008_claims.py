"""Claims of processes on prompts that they ask the model."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "claims",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_claims")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE claims SET UNLOGGED")


def downgrade() -> None:
    """Reverse."""
    op.drop_table("claims")
