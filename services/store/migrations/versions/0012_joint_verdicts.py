"""Counters of the verdicts of two judges. They are filled after the migration, by `recount`."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    _resize(16, 80)


def downgrade() -> None:
    """Reverse: remove the counters that earlier versions do not know."""
    op.execute("DELETE FROM joint_counters WHERE first LIKE 'judge:%'")
    _resize(80, 16)


def _resize(old: int, new: int) -> None:
    with op.batch_alter_table("joint_counters") as table:
        for name in ("first", "second"):
            table.alter_column(
                name, existing_type=sa.String(old), type_=sa.String(new), existing_nullable=False
            )
