"""The log of model calls."""

import sqlalchemy as sa
from alembic import op

from services.store.compressed import CompressedBytes
from services.store.utc_datetime import UtcDateTime

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "calls",
        sa.Column("id", number, autoincrement=True, nullable=False),
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("evaluator", sa.String(80)),
        sa.Column("task", sa.String(80), nullable=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("endpoint", sa.String(200)),
        sa.Column("reply_key", sa.String(64), nullable=False),
        sa.Column("prompt", sa.LargeBinary(), nullable=False),
        sa.Column("repair", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("seconds", sa.Float()),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("cached_input_tokens", sa.BigInteger()),
        sa.Column("picos", sa.BigInteger()),
        sa.Column("currency", sa.String(3)),
        sa.Column("source", sa.String(16)),
        sa.Column("reply", CompressedBytes),
        sa.Column("detail", sa.Text()),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calls"),
    )
    op.create_index("ix_calls_battle_id", "calls", ["battle_id"])
    op.create_index("ix_calls_at", "calls", ["at"])
    op.create_table(
        "call_prompts",
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "digest", name="pk_call_prompts"),
    )
    op.create_index("ix_call_prompts_at", "call_prompts", ["at"])
    op.create_table(
        "call_texts",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", CompressedBytes, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_call_texts"),
    )


def downgrade() -> None:
    """Reverse: the log is lost, and nothing else."""
    for name in ("call_texts", "call_prompts", "calls"):
        op.drop_table(name)
