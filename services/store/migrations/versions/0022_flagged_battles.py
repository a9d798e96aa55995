"""Which battles have a flagged answer."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_WHERE = sa.text("flagged")


def upgrade() -> None:
    """Apply. Battles that were received before are not examined."""
    op.add_column("battles", sa.Column("flagged", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_index(
        "ix_battles_flagged",
        "battles",
        ["arena", "received_at"],
        postgresql_where=_WHERE,
        sqlite_where=_WHERE,
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_index("ix_battles_flagged", table_name="battles")
    with op.batch_alter_table("battles", schema=None) as batch_op:
        batch_op.drop_column("flagged")
