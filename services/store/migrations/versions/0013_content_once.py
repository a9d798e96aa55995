"""What a battle brought is stored once from now on; rows that are stored stay as they are, and are read."""

import sqlalchemy as sa
from alembic import op

from services.store.compressed import PACKED, compress
from services.store.event_reading import read_events, read_submission

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_BATTLES_PER_QUERY = 200


def upgrade() -> None:
    """Apply."""


def downgrade() -> None:
    """Reverse: store bodies whole again, since earlier versions cannot read the others."""
    connection = op.get_bind()
    battles = sa.table("battles", sa.column("id", sa.String), sa.column("body", sa.LargeBinary))
    last = ""
    while True:
        query = sa.select(battles.c.id, battles.c.body).where(battles.c.id > last).order_by(battles.c.id)
        rows = connection.execute(query.limit(_BATTLES_PER_QUERY)).all()
        for battle_id, stored in rows:
            _store_events_whole(connection, battle_id)
            submission = read_submission(connection, battle_id) if stored[:1] == PACKED else None
            if submission is not None:
                values = {"body": compress(submission.body)}
                connection.execute(sa.update(battles).where(battles.c.id == battle_id).values(values))
        if len(rows) < _BATTLES_PER_QUERY:
            return
        last = rows[-1][0]


def _store_events_whole(connection: sa.Connection, battle_id: str) -> None:
    events = sa.table(
        "events",
        sa.column("battle_id", sa.String),
        sa.column("sequence", sa.Integer),
        sa.column("body", sa.LargeBinary),
    )
    of_battle = sa.select(events.c.sequence, events.c.body).where(events.c.battle_id == battle_id)
    stored = [row.sequence for row in connection.execute(of_battle).all() if row.body[:1] == PACKED]
    if not stored:
        return
    bodies = {event.sequence: event.body for event in read_events(connection, battle_id)}
    for sequence in stored:
        row = (events.c.battle_id == battle_id, events.c.sequence == sequence)
        connection.execute(sa.update(events).where(*row).values(body=compress(bodies[sequence])))
