"""The secret that a webhook had before, which signs as well for some time."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("webhooks", sa.Column("previous_secret", sa.String(length=100)))
    op.add_column("webhooks", sa.Column("previous_secret_until", UtcDateTime()))


def downgrade() -> None:
    """Reverse."""
    op.drop_column("webhooks", "previous_secret_until")
    op.drop_column("webhooks", "previous_secret")
