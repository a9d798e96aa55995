"""An unknown language and a missing title are NULL; they were empty texts."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    with op.batch_alter_table("battles") as table:
        table.alter_column("language", existing_type=sa.String(35), nullable=True)
    with op.batch_alter_table("sources") as table:
        table.alter_column("title", existing_type=sa.Text(), nullable=True)
    op.execute("UPDATE battles SET language = NULL WHERE language = ''")
    op.execute("UPDATE sources SET title = NULL WHERE title = ''")


def downgrade() -> None:
    """Reverse."""
    op.execute("UPDATE battles SET language = '' WHERE language IS NULL")
    op.execute("UPDATE sources SET title = '' WHERE title IS NULL")
    with op.batch_alter_table("battles") as table:
        table.alter_column("language", existing_type=sa.String(35), nullable=False)
    with op.batch_alter_table("sources") as table:
        table.alter_column("title", existing_type=sa.Text(), nullable=False)
