"""The confidence of languages that were detected, not declared."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("battles", sa.Column("language_confidence", sa.Float(), nullable=True))


def downgrade() -> None:
    """Reverse. Detected languages become unknown; `nuggetstream recount` corrects the boards by language."""
    op.execute("UPDATE battles SET language = NULL WHERE language_confidence IS NOT NULL")
    op.drop_column("battles", "language_confidence")
