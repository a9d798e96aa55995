"""The platform on PostgreSQL with a role that cannot change the schema, as the manual makes it."""

from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import ProgrammingError

from nuggetstream.client import AsyncClient
from services.store.database import Database
from services.store.migrate import upgrade
from tests.documents import blocks
from tests.e2e.battles import battle
from tests.e2e.processes import run_command, separate_processes
from tests.e2e.prometheus import until
from tests.postgres import postgresql

(ROLE,) = (
    block.text for block in blocks("docs/operations/secure.md") if "ALTER DEFAULT PRIVILEGES" in block.text
)
COMMANDS = (
    ("migrate",),
    ("keys", "create", "test", "--role", "submit", "--all-arenas"),
    ("keys", "list"),
    ("recount", "--check"),
    ("recount",),
)


async def execute(url: str, *statements: str) -> None:
    database = Database(url)
    try:
        async with database.transaction() as tx:
            for statement in statements:
                await tx.execute(text(statement))
    finally:
        await database.close()


async def prepare(owner: str) -> None:
    """Migrate a database, and add a table after the role of the services has got its rights."""
    database = Database(owner)
    await upgrade(database)
    await database.close()


@pytest.mark.postgresql
@pytest.mark.timeout(300)
async def test_services_need_no_right_to_change_the_schema(tmp_path: Path) -> None:
    with postgresql() as server:
        base = make_url(server.get_uri()).set(drivername="postgresql+asyncpg", database="arena")

        def url(role: str) -> str:
            return base.set(username=role).render_as_string(hide_password=False)

        server.psql("CREATE ROLE nuggetstream LOGIN;")
        server.psql("CREATE DATABASE arena OWNER nuggetstream;")
        await prepare(url("nuggetstream"))
        administrator = base.render_as_string(hide_password=False)
        await execute(administrator, *filter(str.strip, ROLE.split(";")))

        await execute(url("nuggetstream"), "CREATE TABLE later (n serial PRIMARY KEY)")  # as a migration does
        await execute(url("nuggetstream_services"), "INSERT INTO later DEFAULT VALUES", "DELETE FROM later")
        for change in ("CREATE TABLE mine (n int)", "DROP TABLE later", "ALTER TABLE battles ADD mine int"):
            with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
                await execute(url("nuggetstream_services"), change)

        await everything_works(tmp_path, url("nuggetstream_services"))


async def everything_works(folder: Path, url: str) -> None:
    """Battles from submission to deletion, and the commands that use the database."""
    async with (
        separate_processes(folder, database_url=url) as platform,
        AsyncClient(platform.url, patience=60) as client,
    ):
        for number in range(2):
            await client.submit(battle(number))

        async def all_ended() -> bool:
            return all([(await client.battle(battle(n)["id"])).state == "scored" for n in range(2)])

        await until(all_ended, 120)
        await client.vote(battle(0)["id"], "b")
        assert [board.scored for board in await client.leaderboard("test")] == [2] * 3
        await client.delete_battle(battle(1)["id"])
        environment = next(iter(platform.processes.values())).environment
        for command in COMMANDS:
            code, output = await run_command(environment, *command)
            assert code == 0, output
        logs = [process.log.read_text(encoding="utf-8") for process in platform.processes.values()]
    assert not [line for log in logs for line in log.splitlines() if "permission denied" in line]
