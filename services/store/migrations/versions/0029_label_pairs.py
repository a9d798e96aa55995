"""Labels of second assigners, per battle and counted."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_LABELS = ("not_support", "partial_support", "support")
_PAIRS = [f"{first}_{second}" for first in _LABELS for second in _LABELS]


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "label_pairs",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("evaluator", sa.String(length=80), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _PAIRS),
        sa.PrimaryKeyConstraint("battle_id", "evaluator", name=op.f("pk_label_pairs")),
    )
    op.create_table(
        "label_counters",
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("evaluator", sa.String(length=80), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("battles", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _PAIRS),
        sa.PrimaryKeyConstraint("arena", "evaluator", "model", name=op.f("pk_label_counters")),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("label_counters")
    op.drop_table("label_pairs")
