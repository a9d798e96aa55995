"""Webhooks, and the events that their receivers have not accepted."""

import sqlalchemy as sa
from alembic import op

from services.store.utc_datetime import UtcDateTime

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=100), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("cursor_at", UtcDateTime(), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failing_since", UtcDateTime()),
        sa.Column("paused_until", UtcDateTime()),
        sa.Column("last_error", sa.Text()),
        sa.Column("accepted_at", UtcDateTime()),
        sa.Column("lease_owner", sa.String(length=40)),
        sa.Column("lease_until", UtcDateTime()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_arena"), "webhooks", ["arena"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("webhook_id", sa.String(length=40), nullable=False),
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("recorded_at", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", UtcDateTime()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(
            "webhook_id", "battle_id", "sequence", "kind", name=op.f("pk_webhook_deliveries")
        ),
    )
    op.create_index(op.f("ix_webhook_deliveries_battle_id"), "webhook_deliveries", ["battle_id"])
    op.create_index(
        op.f("ix_webhook_deliveries_webhook_id_next_at"), "webhook_deliveries", ["webhook_id", "next_at"]
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
