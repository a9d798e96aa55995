"""How far the inputs of evaluators were examined that a lost stream may have had."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "stream_starts",
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("examined_until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("created_at", name=op.f("pk_stream_starts")),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("stream_starts")
