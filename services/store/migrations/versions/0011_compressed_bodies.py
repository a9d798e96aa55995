"""Bodies are stored compressed from now on; those that are stored stay as they are, and both can be read."""

import zlib

import sqlalchemy as sa
from alembic import op

from services.store.compressed import MARK

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_KEYS = {"battles": "id", "events": "message_id", "blobs": "key"}
_ROWS = 200


def upgrade() -> None:
    """Apply."""


def downgrade() -> None:
    """Reverse: decompress every body, since earlier versions cannot read it."""
    for table, key in _KEYS.items():
        _decompress(table, key)


def _decompress(name: str, key: str) -> None:
    connection = op.get_bind()
    stored = sa.table(name, sa.column(key, sa.String), sa.column("body", sa.LargeBinary))
    last = ""
    while True:
        query = sa.select(stored.c[key], stored.c.body).where(stored.c[key] > last).order_by(stored.c[key])
        rows = connection.execute(query.limit(_ROWS)).all()
        for row_key, body in rows:
            if body[:1] == MARK:
                values = {"body": zlib.decompress(body[1:])}
                connection.execute(sa.update(stored).where(stored.c[key] == row_key).values(values))
        if len(rows) < _ROWS:
            return
        last = rows[-1][0]
