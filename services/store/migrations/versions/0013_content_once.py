"""What a battle brought is stored once from now on; rows that are stored stay as they are, and are read."""

import sqlalchemy as sa
from alembic import op

from services.store.chunk_texts import texts_of_rows
from services.store.compressed import PACKED, compress
from services.store.event_reading import read_events, read_submission

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_BATTLES_PER_QUERY = 200
_CHUNKS_PER_QUERY = 1000


def upgrade() -> None:
    """Apply. No table is rewritten."""
    op.add_column("chunks", sa.Column("span", sa.LargeBinary()))
    if op.get_bind().dialect.name == "sqlite":
        _allow_null_in_sqlite()
    else:
        op.alter_column("chunks", "text", existing_type=sa.Text(), nullable=True)


def _allow_null_in_sqlite() -> None:
    """Change the declaration of the column, as SQLite's documentation of ALTER TABLE describes.

    Alembic would copy the table, which is the largest after the events.
    """
    connection = op.get_bind()
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    changed = connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = replace(sql, 'text TEXT NOT NULL', 'text TEXT') "
        "WHERE type = 'table' AND name = 'chunks' AND sql LIKE '%text TEXT NOT NULL%'"
    )
    if changed.rowcount != 1:
        raise RuntimeError("the table of chunks is not as an earlier version made it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")


def downgrade() -> None:
    """Reverse: store bodies and chunks whole again, since earlier versions cannot read the others."""
    connection = op.get_bind()
    _store_bodies_whole(connection)
    _store_chunks_whole(connection)
    with op.batch_alter_table("chunks") as table:
        table.alter_column("text", existing_type=sa.Text(), nullable=False)
        table.drop_column("span")


def _store_bodies_whole(connection: sa.Connection) -> None:
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


def _store_chunks_whole(connection: sa.Connection) -> None:
    chunks = sa.table(
        "chunks",
        *(sa.column(name, sa.String) for name in ("id", "content_hash", "text")),
        sa.column("position", sa.BigInteger),
        sa.column("span", sa.LargeBinary),
    )
    last = 0
    while True:
        query = sa.select(chunks).where(chunks.c.span.is_not(None), chunks.c.position > last)
        rows = connection.execute(query.order_by(chunks.c.position).limit(_CHUNKS_PER_QUERY)).all()
        texts = texts_of_rows(connection, rows)
        for row in rows:
            of_chunk = chunks.c.position == row.position
            if row.id in texts:
                connection.execute(sa.update(chunks).where(of_chunk).values(text=texts[row.id]))
            else:  # its page is not stored
                connection.execute(sa.delete(chunks).where(of_chunk))
        if len(rows) < _CHUNKS_PER_QUERY:
            return
        last = rows[-1].position
