"""What a judge's verdicts depend on beside the answers: columns of outcomes, and their counters."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_KEYS = (("arena", 200), ("source", 80), ("model", 200), ("system_a", 200), ("system_b", 200))
_NUMBERS = (
    "verdicts", "a", "b", "ordered", "first", "second", "longer", "longer_wins", "twice", "twice_wins",
    "people_a", "people_b", "people_longer", "people_longer_wins",
    "nugget_a", "nugget_b", "nugget_longer", "nugget_longer_wins",
)  # fmt: skip


def upgrade() -> None:
    """Apply. Outcomes that are stored have no model and are not counted."""
    op.add_column("outcomes", sa.Column("judge_model", sa.String(200)))
    op.add_column("outcomes", sa.Column("favoured", sa.SmallInteger()))
    op.add_column("outcomes", sa.Column("longer", sa.SmallInteger()))
    op.create_table(
        "judge_counters",
        *(sa.Column(name, sa.String(length), nullable=False) for name, length in _KEYS),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _NUMBERS),
        sa.PrimaryKeyConstraint(*(name for name, _ in _KEYS), name="pk_judge_counters"),
    )


def downgrade() -> None:
    """Reverse."""
    op.drop_table("judge_counters")
    with op.batch_alter_table("outcomes", schema=None) as batch_op:
        for name in ("longer", "favoured", "judge_model"):
            batch_op.drop_column(name)
