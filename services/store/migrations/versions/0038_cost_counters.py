"""Counters of what model calls cost, per day, arena, stage and model."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_BOOKED = """
INSERT INTO cost_counters
    (day, slot, arena, stage, model, currency, calls, input_tokens, output_tokens, picos)
SELECT spend.day, 0, coalesce(battles.arena, ''), spend.stage, spend.model, coalesce(spend.currency, ''),
    count(*), sum(spend.input_tokens), sum(spend.output_tokens), sum(coalesce(spend.picos, 0))
FROM spend LEFT JOIN battles ON battles.id = spend.battle_id
GROUP BY spend.day, coalesce(battles.arena, ''), spend.stage, spend.model, coalesce(spend.currency, '')
"""


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "cost_counters",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("picos", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "day", "slot", "arena", "stage", "model", "currency", name=op.f("pk_cost_counters")
        ),
    )
    op.execute(_BOOKED)


def downgrade() -> None:
    """Reverse."""
    op.drop_table("cost_counters")
