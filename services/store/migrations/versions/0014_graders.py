"""Whether each evaluator has graded a battle or given up."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "grader_states",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("evaluator", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "evaluator", name=op.f("pk_grader_states")),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("grader_states")
