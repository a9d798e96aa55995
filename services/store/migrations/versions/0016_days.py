"""Counters of days. They are filled after the migration, by `recount`."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""


def downgrade() -> None:
    """Reverse: remove the counters that earlier versions do not know."""
    for table in ("battle_counters", "lens_counters", "pair_counters"):
        op.execute(f"DELETE FROM {table} WHERE kind = 'day'")  # noqa: S608 - the names are those above
