"""Labels of second assigners that are contradictions."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_NEW = "contradiction"
_OTHERS = ("not_support", "partial_support", "support")
_PAIRS = [
    f"{_NEW}_{_NEW}",
    *(f"{_NEW}_{other}" for other in _OTHERS),
    *(f"{other}_{_NEW}" for other in _OTHERS),
]
_TABLES = {"label_pairs": sa.Integer(), "label_counters": sa.BigInteger()}


def upgrade() -> None:
    """Apply."""
    for table, kind in _TABLES.items():
        for name in _PAIRS:
            op.add_column(table, sa.Column(name, kind, server_default="0", nullable=False))


def downgrade() -> None:
    """Reverse."""
    for table in _TABLES:
        with op.batch_alter_table(table) as batch:
            for name in _PAIRS:
                batch.drop_column(name)
