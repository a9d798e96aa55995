"""What a battle brought, so that it can be deleted with the battle, and which battles were deleted."""

import sqlalchemy as sa
from alembic import op

from services.store.online_indexes import index_later
from services.store.utc_datetime import UtcDateTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    for name in ("blobs", "replies"):
        op.add_column(name, sa.Column("battle_id", sa.String(200)))
        index_later(f"ix_{name}_battle_id", name, ["battle_id"])
    index_later("ix_replies_unowned", "replies", ["created_at"], "battle_id IS NULL")
    with op.batch_alter_table("spend") as table:
        table.alter_column("battle_id", existing_type=sa.String(200), nullable=True)
    op.create_table(
        "content_users",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("battle_id", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("key", "battle_id", name="pk_content_users"),
    )
    op.create_index("ix_content_users_battle_id", "content_users", ["battle_id"])
    op.create_table(
        "deletions",
        sa.Column("battle", sa.String(64), nullable=False),
        sa.Column("battle_id", sa.String(200)),
        sa.Column("deleted_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("battle", name="pk_deletions"),
    )
    where = sa.text("battle_id IS NOT NULL")
    op.create_index(
        "ix_deletions_unfinished", "deletions", ["deleted_at"], postgresql_where=where, sqlite_where=where
    )
    op.create_table(
        "removed_chunks",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_removed_chunks"),
    )


def downgrade() -> None:
    """Reverse. Calls booked for deleted battles are counted for a battle without a name."""
    for name in ("removed_chunks", "deletions", "content_users"):
        op.drop_table(name)
    op.execute("UPDATE spend SET battle_id = '' WHERE battle_id IS NULL")
    with op.batch_alter_table("spend") as table:
        table.alter_column("battle_id", existing_type=sa.String(200), nullable=False)
    op.drop_index("ix_replies_unowned", table_name="replies", if_exists=True)
    for name in ("replies", "blobs"):
        op.drop_index(f"ix_{name}_battle_id", table_name=name, if_exists=True)
        with op.batch_alter_table(name) as table:
            table.drop_column("battle_id")
