"""The secrets of database and broker are changed as the manual says: nobody is disconnected meanwhile."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus, BusSettings, Outgoing, ensure
from services.runtime.errors import Outage
from services.store.database import Database
from services.store.migrate import upgrade
from services.wire.subjects import STREAM_DEAD
from services.wire.topology import dead_subject, streams
from tests.brokers import ServerWithUsers
from tests.documents import blocks
from tests.postgres import postgresql

BLOCKS = [(block.language, block.text) for block in blocks("docs/operations/secure.md")]
SECOND_ROLE, OLD_ENDS = (text for language, text in BLOCKS if language == "sql" and "GRANT" not in text)
(USERS,) = (text for language, text in BLOCKS if language == "text" and "authorization" in text)
HBA = "local all nuggetstream,nuggetstream_b scram-sha-256\n"


async def owner_of_a_new_table(database: Database) -> str:
    async with database.transaction() as tx:
        await tx.execute(text("CREATE TABLE made_later (n int)"))
        owner = await tx.execute(text("SELECT tableowner FROM pg_tables WHERE tablename = 'made_later'"))
        return str(owner.scalar_one())


async def battles(database: Database) -> int:
    async with database.transaction() as tx:
        return int((await tx.execute(text("SELECT count(*) FROM battles"))).scalar_one())


@pytest.mark.postgresql
async def test_a_second_role_takes_over_while_connections_of_the_first_stay() -> None:
    with postgresql() as server:
        server.psql("CREATE ROLE nuggetstream LOGIN PASSWORD 'OLD';")
        server.psql("CREATE DATABASE arena OWNER nuggetstream;")
        hba = Path(server.pgdata, "pg_hba.conf")
        hba.write_text(HBA + hba.read_text(encoding="utf-8"), encoding="utf-8")
        server.psql("SELECT pg_reload_conf();")
        base = make_url(server.get_uri()).set(drivername="postgresql+asyncpg", database="arena")
        async with AsyncExitStack() as stack:

            def opened(role: str, password: str) -> Database:
                url = base.set(username=role, password=password).render_as_string(hide_password=False)
                database = Database(url)
                stack.push_async_callback(database.close)
                return database

            old = opened("nuggetstream", "OLD")
            await upgrade(old)
            for wrong in opened("nuggetstream", "WRONG"), opened("nuggetstream_b", "NEW"):
                with pytest.raises(Outage):
                    await battles(wrong)

            server.psql(SECOND_ROLE)
            new = opened("nuggetstream_b", "NEW")
            await upgrade(new)
            assert await owner_of_a_new_table(new) == "nuggetstream"
            assert await battles(old) == await battles(new) == 0

            server.psql(OLD_ENDS)
            assert await battles(old) == 0  # a pod that was not replaced yet
            assert await battles(opened("nuggetstream_b", "NEW")) == 0
            with pytest.raises(Outage):
                await battles(opened("nuggetstream", "OLD"))


class Broker(ServerWithUsers):
    """A nats-server whose users change while it runs."""

    async def reload(self, users: str) -> None:
        """Let it read its configuration with other users."""
        self.users = users
        (self._dir / "nats-server.conf").write_text(self._config(), encoding="utf-8")
        reloads = self._reloads()
        assert self.pid is not None
        os.kill(self.pid, signal.SIGHUP)
        async with asyncio.timeout(60):
            while self._reloads() == reloads:
                await asyncio.sleep(0.05)

    def _reloads(self) -> int:
        return self.log_path.read_text(encoding="utf-8").count("Reloaded server configuration")


@asynccontextmanager
async def connected(server: Broker, user: str, password: str) -> AsyncIterator[Bus]:
    # Who is disconnected does not come back within this test.
    settings = BusSettings(servers=(server.address,), user=user, password=password, reconnect_wait=3600.0)
    async with Bus.connect(settings) as bus:
        yield bus


async def stored(bus: Bus, name: str) -> int:
    """Store a dead letter; returns its number in the stream."""
    return (await bus.publish(Outgoing(dead_subject(Stage.JUDGE), name, "letter", b""), within=60.0)).seq


async def test_a_second_user_of_the_broker_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NATS_PASSWORD", "old-password")
    monkeypatch.setenv("NATS_NEW_PASSWORD", "new-password")
    without_new = "\n".join(line for line in USERS.splitlines() if "nuggetstream-b" not in line)
    without_old = "\n".join(line for line in USERS.splitlines() if "user: nuggetstream," not in line)
    server = Broker(tmp_path / "nats")
    server.users = without_new
    async with server, connected(server, "nuggetstream", "old-password") as old:
        await ensure(old.js, streams())
        assert await stored(old, "1") == 1

        await server.reload(USERS)
        async with connected(server, "nuggetstream-b", "new-password") as new:
            assert [await stored(old, "2"), await stored(new, "3")] == [2, 3]

            await server.reload(without_old)
            async with asyncio.timeout(60):
                while old.connected:
                    await asyncio.sleep(0.05)
            assert await stored(new, "4") == 4
            assert (await new.js.stream_info(STREAM_DEAD)).state.messages == 4
