"""Questions that battles with the same query are graded on."""

import sqlalchemy as sa
from alembic import op

from services.store.compressed import CompressedBytes

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "question_banks",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("query", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("settings", sa.String(64), nullable=False),
        sa.Column("body", CompressedBytes, nullable=False),
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_question_banks"),
    )
    op.create_index("ix_question_banks_battle_id", "question_banks", ["battle_id"])
    op.create_index(
        "ix_question_banks_query_kind_version", "question_banks", ["query", "kind", "version"], unique=True
    )
    op.create_index("ix_question_banks_query_settings", "question_banks", ["query", "settings"], unique=True)


def downgrade() -> None:
    """Reverse. Grades keep the questions that they were given on."""
    op.drop_table("question_banks")
