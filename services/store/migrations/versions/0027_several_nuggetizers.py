"""The state of each nuggetizer per battle, where there are several."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply. Battles that run have no rows: whoever has labelled a list is noted from here on."""
    op.create_table(
        "nuggetizer_states",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("evaluator", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "evaluator", name=op.f("pk_nuggetizer_states")),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("nuggetizer_states")
