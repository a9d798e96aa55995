"""Counters of battles, outcomes and booked calls. They are filled after the migration, by `recount`."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ARENA, _LENS, _SYSTEMS = ("arena", 200), ("lens", 16), (("system_a", 200), ("system_b", 200))
_FACET = (("kind", 16), ("value", 200))
_WINNERS = ("a", "b", "tie", "both_bad")
_JOINT = [
    f"{first}_{second}"
    for first in ("none", *_WINNERS)
    for second in ("none", *_WINNERS)
    if (first, second) != ("none", "none")
]
_SPENT = ("input_tokens", "output_tokens", "cached_input_tokens", "picos", "calls", "estimated")


def upgrade() -> None:
    """Apply."""
    _create("battle_counters", (_ARENA, *_FACET), ("battles",))
    _create("lens_counters", (_ARENA, _LENS, *_FACET), ("outcomes", "decided", "stamp"))
    _create("pair_counters", (_ARENA, _LENS, *_FACET, *_SYSTEMS), _WINNERS)
    _create("joint_counters", (_ARENA, ("first", 16), ("second", 16), *_SYSTEMS), _JOINT)
    op.create_table(
        "spend_counters",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _SPENT),
        sa.PrimaryKeyConstraint("day", "slot", "currency", name=op.f("pk_spend_counters")),
    )


def downgrade() -> None:
    """Reverse."""
    for table in ("spend_counters", "joint_counters", "pair_counters", "lens_counters", "battle_counters"):
        op.drop_table(table)


def _create(table: str, keys: tuple[tuple[str, int], ...], numbers: tuple[str, ...] | list[str]) -> None:
    op.create_table(
        table,
        *(sa.Column(name, sa.String(length=length), nullable=False) for name, length in keys),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in numbers),
        sa.PrimaryKeyConstraint(*(name for name, _ in keys), name=op.f(f"pk_{table}")),
    )
