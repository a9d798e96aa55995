"""Probabilities of outcomes, and the battles about which the machine is unsure.

Outcomes stored before have no known probabilities. `recount` fills the table of doubtful battles.
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_COUNTERS = {"pair_counters": ("shift_a", "shift_b"), "lens_counters": ("probable",)}


def upgrade() -> None:
    """Apply."""
    for name in ("probability_a", "probability_b"):
        op.add_column("outcomes", sa.Column(name, sa.Integer(), nullable=True))
    for table, columns in _COUNTERS.items():
        for name in columns:
            op.add_column(table, sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "doubts",
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("arena", sa.String(200), nullable=False),
        sa.Column("doubt", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "arena", name="pk_doubts"),
    )
    op.create_index("ix_doubts_arena_doubt_battle_id", "doubts", ["arena", "doubt", "battle_id"])


def downgrade() -> None:
    """Reverse: outcomes count as the most probable ones."""
    op.drop_table("doubts")
    for table, columns in _COUNTERS.items():
        with op.batch_alter_table(table) as batch:
            for name in columns:
                batch.drop_column(name)
    with op.batch_alter_table("outcomes") as batch:
        for name in ("probability_a", "probability_b"):
            batch.drop_column(name)
