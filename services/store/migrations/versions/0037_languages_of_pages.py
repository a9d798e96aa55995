"""The confidence of languages that were detected in pages, not declared."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("chunks", sa.Column("language_confidence", sa.Float(), nullable=True))


def downgrade() -> None:
    """Reverse. Detected languages become unknown."""
    op.execute("UPDATE chunks SET language = NULL WHERE language_confidence IS NOT NULL")
    op.drop_column("chunks", "language_confidence")
