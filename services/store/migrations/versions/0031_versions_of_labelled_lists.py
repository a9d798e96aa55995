"""Which version of the nugget list second assigners labelled."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply. Of rows that are stored, the version is unknown and counts as the first."""
    op.add_column("label_pairs", sa.Column("nugget_version", sa.Integer()))


def downgrade() -> None:
    """Reverse."""
    with op.batch_alter_table("label_pairs", schema=None) as batch_op:
        batch_op.drop_column("nugget_version")
