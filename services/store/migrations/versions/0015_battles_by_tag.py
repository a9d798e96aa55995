"""An index of the battles with a tag, on PostgreSQL."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply: the index is declared with the tables, and made after the migrations (`create_indexes`)."""


def downgrade() -> None:
    """Reverse."""
    op.execute("DROP INDEX IF EXISTS ix_battles_tags")
