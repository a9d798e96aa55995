"""Counters of pairs count a battle of several judges once. `recount` corrects them after the migration."""

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply: the tables stay as they are."""


def downgrade() -> None:
    """Reverse: nothing. An earlier version corrects its counters by `recount`."""
