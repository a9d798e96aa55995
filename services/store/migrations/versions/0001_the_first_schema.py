"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "battles",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("system_a", sa.String(length=200), nullable=False),
        sa.Column("system_b", sa.String(length=200), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("nugget_state", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("judge_state", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("event_count", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_battles")),
    )
    with op.batch_alter_table("battles", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_battles_arena_received_at"), ["arena", "received_at"], unique=False
        )

    op.create_table(
        "blobs",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_blobs")),
    )
    op.create_table(
        "chunks",
        sa.Column(
            "position",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_chunks")),
        sa.UniqueConstraint("id", name=op.f("uq_chunks_id")),
    )
    with op.batch_alter_table("chunks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_chunks_content_hash"), ["content_hash"], unique=False)

    op.create_table(
        "events",
        sa.Column("message_id", sa.String(length=300), nullable=False),
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("schema", sa.String(length=80), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_events")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_events_battle_id_sequence"), ["battle_id", "sequence"], unique=True
        )

    op.create_table(
        "failures",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_failures")),
    )
    with op.batch_alter_table("failures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_failures_battle_id"), ["battle_id"], unique=False)

    op.create_table(
        "outcomes",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("source", sa.String(length=80), nullable=False),
        sa.Column("lens", sa.String(length=16), nullable=False),
        sa.Column("arena", sa.String(length=200), nullable=False),
        sa.Column("system_a", sa.String(length=200), nullable=False),
        sa.Column("system_b", sa.String(length=200), nullable=False),
        sa.Column("winner", sa.String(length=16), nullable=False),
        sa.Column("margin", sa.Float(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "source", name=op.f("pk_outcomes")),
    )
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_outcomes_arena_lens"), ["arena", "lens"], unique=False)

    op.create_table(
        "replies",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_replies")),
    )
    op.create_table(
        "sources",
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("url_hash", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cited_by_a", sa.Boolean(), nullable=False),
        sa.Column("cited_by_b", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("battle_id", "url_hash", name=op.f("pk_sources")),
    )
    with op.batch_alter_table("sources", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sources_content_hash"), ["content_hash"], unique=False)

    op.create_table(
        "spend",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("battle_id", sa.String(length=200), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cached_input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("picos", sa.BigInteger(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=True),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("booked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spend")),
    )
    with op.batch_alter_table("spend", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_spend_battle_id"), ["battle_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_spend_day"), ["day"], unique=False)

    op.create_table(
        "vectors",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=120), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("text_hash", "model", name=op.f("pk_vectors")),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("vectors")
    with op.batch_alter_table("spend", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_spend_day"))
        batch_op.drop_index(batch_op.f("ix_spend_battle_id"))

    op.drop_table("spend")
    with op.batch_alter_table("sources", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sources_content_hash"))

    op.drop_table("sources")
    op.drop_table("replies")
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_outcomes_arena_lens"))

    op.drop_table("outcomes")
    with op.batch_alter_table("failures", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_failures_battle_id"))

    op.drop_table("failures")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_events_battle_id_sequence"))

    op.drop_table("events")
    with op.batch_alter_table("chunks", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_chunks_content_hash"))

    op.drop_table("chunks")
    op.drop_table("blobs")
    with op.batch_alter_table("battles", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_battles_arena_received_at"))

    op.drop_table("battles")
