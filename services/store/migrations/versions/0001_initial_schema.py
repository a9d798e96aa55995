"""The schema of the first release.

An empty database gets its tables from their declarations (see `services/store/migrate.py`), so there is
nothing to apply: the revision is where later migrations begin.
"""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing is before this revision."""
