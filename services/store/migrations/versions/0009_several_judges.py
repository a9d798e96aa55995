"""The state of each judge of a battle, where there are several, and the name of the judge that failed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "judge_states",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("evaluator", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "evaluator", name=op.f("pk_judge_states")),
    )
    op.add_column("failures", sa.Column("evaluator", sa.String(length=80), nullable=True))


def downgrade() -> None:
    """Reverse."""
    with op.batch_alter_table("failures", schema=None) as batch_op:
        batch_op.drop_column("evaluator")
    op.drop_table("judge_states")
