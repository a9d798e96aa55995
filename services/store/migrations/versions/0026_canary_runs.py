"""The latest run of the canary battles by each judge and model."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "canary_runs",
        sa.Column("evaluator", sa.String(80), nullable=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("claimed_at", UtcDateTime(), nullable=False),
        sa.Column("at", UtcDateTime()),
        sa.Column("battles", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("problems", sa.JSON()),
        sa.PrimaryKeyConstraint("evaluator", "model", name="pk_canary_runs"),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("canary_runs")
