"""Edits of nugget lists by people, and the version of the list that an outcome rests on."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "nugget_edits",
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("based_on", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("bank", sa.String(64)),
        sa.Column("bank_version", sa.Integer()),
        sa.Column("edited_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "version", name="pk_nugget_edits"),
    )
    op.add_column("outcomes", sa.Column("list_version", sa.Integer()))


def downgrade() -> None:
    """Reverse. Edited lists stay, and who edited them is lost."""
    op.drop_column("outcomes", "list_version")
    op.drop_table("nugget_edits")
