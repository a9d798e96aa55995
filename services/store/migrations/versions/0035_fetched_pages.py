"""What scrapers share: pages, robots.txt files and pauses between requests to a host."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "fetched_pages",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("content_hash", sa.String(length=64)),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("fetched_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_fetched_pages")),
    )
    op.create_index(op.f("ix_fetched_pages_battle_id"), "fetched_pages", ["battle_id"])
    op.create_table(
        "robots_files",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("fetched_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_robots_files")),
    )
    op.create_index(op.f("ix_robots_files_fetched_at"), "robots_files", ["fetched_at"])
    op.create_table(
        "host_pauses",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("next_start", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_host_pauses")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE host_pauses SET UNLOGGED")


def downgrade() -> None:
    """Reverse."""
    for table in ("host_pauses", "robots_files", "fetched_pages"):
        op.drop_table(table)
