"""An index of the battles with a tag, on PostgreSQL."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE INDEX ix_battles_tags ON battles USING gin (CAST(tags AS jsonb) jsonb_path_ops)")


def downgrade() -> None:
    """Reverse."""
    op.execute("DROP INDEX IF EXISTS ix_battles_tags")
