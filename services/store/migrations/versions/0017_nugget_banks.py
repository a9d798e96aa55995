"""Nugget lists and labels that battles share."""

import sqlalchemy as sa
from alembic import op

from services.store.compressed import CompressedBytes
from services.store.utc_datetime import UtcDateTime

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "nugget_lists",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("bank", sa.String(64), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("body", CompressedBytes, nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_nugget_lists"),
    )
    op.create_index("ix_nugget_lists_bank_step", "nugget_lists", ["bank", "step"], unique=True)
    op.create_index("ix_nugget_lists_battle_id", "nugget_lists", ["battle_id"])
    op.create_table(
        "nugget_labels",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("body", CompressedBytes, nullable=False),
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_nugget_labels"),
    )
    op.create_index("ix_nugget_labels_subject", "nugget_labels", ["subject"])
    op.create_index("ix_nugget_labels_battle_id", "nugget_labels", ["battle_id"])


def downgrade() -> None:
    """Reverse. Battles keep their lists and labels, and share none with later battles."""
    for name in ("nugget_labels", "nugget_lists"):
        op.drop_table(name)
