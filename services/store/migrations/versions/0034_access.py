"""API keys, logins of the pages, quotas and the audit log."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("hash", sa.String(length=64)),
        sa.Column("proxy_user", sa.String(length=320)),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("arenas", sa.JSON(none_as_null=True)),
        sa.Column("per_minute", sa.Integer()),
        sa.Column("battles_per_day", sa.Integer()),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime()),
        sa.Column("revoked_at", UtcDateTime()),
        sa.Column("replaces", sa.String(length=40)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("proxy_user", name=op.f("uq_api_keys_proxy_user")),
    )
    op.create_table(
        "page_sessions",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=40), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_page_sessions")),
    )
    op.create_index(op.f("ix_page_sessions_expires_at"), "page_sessions", ["expires_at"])
    op.create_table(
        "key_usage",
        sa.Column("key_id", sa.String(length=40), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("battles", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "day", name=op.f("pk_key_usage")),
    )
    op.create_table(
        "audit_log",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("key_id", sa.String(length=40), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("arena", sa.String(length=200)),
        sa.Column("subject", sa.String(length=40)),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_arena"), "audit_log", ["arena"])
    op.create_table(
        "access_secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_access_secrets")),
    )


def downgrade() -> None:
    """Reverse."""
    for table in ("access_secrets", "audit_log", "key_usage", "page_sessions", "api_keys"):
        op.drop_table(table)
