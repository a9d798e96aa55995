"""A backup is restored by the commands of the manual: nothing is doubled, and what is missing runs again.

The streams are newer than the database, or are lost with it.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import INDEPENDENT, Lens
from services.cli.wiring import embedded
from services.cli.wiring.data_folder import NATS
from services.recorder.reconciler import reconciler
from services.store.content.blobs import Blobs
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.recount import recount
from services.store.work.outbox import Outbox
from services.wire import topology
from tests.documents import blocks
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.postgresql import embedded_on
from tests.e2e.with_model import ended, platform, until
from tests.postgres import postgresql

CALLS = 5  # per battle
# Back up PostgreSQL, back up SQLite, restore PostgreSQL, restore SQLite.
COMMANDS = tuple(block.text for block in blocks("docs/operations/backup.md") if block.language == "sh")


def shell(command: str, folder: Path, *programs: Path) -> None:
    """Run commands of the manual in a folder, with programs in further folders; they must succeed."""
    path = os.pathsep.join(map(str, (*programs, Path(sys.prefix, "bin"), os.environ["PATH"])))
    environment = os.environ | {"PATH": path}
    done = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class Sqlite:
    """The database of `up`, in its data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def back_up(self) -> None:
        """While the platform runs."""
        _, command, _, _ = COMMANDS
        shell(command, self._folder)

    def restore(self) -> None:
        *_, command = COMMANDS
        shell(command, self._folder)


class Postgresql:
    """A database of a server; the backup is restored as another database."""

    def __init__(self, folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._server, self._monkeypatch = folder, server, monkeypatch
        server.psql('CREATE DATABASE "NAME";')
        embedded_on(monkeypatch, self._uri("NAME"))

    def _uri(self, name: str) -> str:
        return make_url(self._server.get_uri()).set(database=name).render_as_string(hide_password=False)

    def _run(self, command: str) -> None:
        named = re.sub(r"postgresql://USER@HOST/(\w+)", lambda url: f"'{self._uri(url[1])}'", command)
        shell(named, self._folder, self._server.bin_path)

    def back_up(self) -> None:
        """While the platform runs."""
        command, *_ = COMMANDS
        self._run(command)

    def restore(self) -> None:
        _, _, command, _ = COMMANDS
        self._run(command)
        embedded_on(self._monkeypatch, self._uri("NEW"))


Store = Sqlite | Postgresql


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "sqlite":
        yield Sqlite(tmp_path)
        return
    with postgresql() as server:
        yield Postgresql(tmp_path, server, monkeypatch)


def streams(**options: Any) -> list[Any]:
    """The streams, which recognise duplicates for a second and not for ten minutes."""
    return [replace(stream, duplicate_window=1.0) for stream in topology.streams(**options)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kept", [True, False], ids=["streams-kept", "streams-lost"])
async def test_a_platform_goes_on_from_a_backup(
    tmp_path: Path, store: Store, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "streams", streams)
    data = tmp_path / "nuggetstream-data"
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    async with endpoint.listening(port):
        async with platform(data, port) as running, AsyncClient(running.url) as client:
            for number in range(3):
                await ended(client, (await client.submit(battle(number))).battle_id)
            endpoint.answering.clear()
            await client.submit(battle(3))
            await until(lambda: endpoint.answered.total() > 3 * CALLS)
            while await Outbox(running.database).count():  # else the backup would publish it again
                await asyncio.sleep(0.05)
            await asyncio.to_thread(
                store.back_up
            )  # while battle 3 waits for the model, and before battle 4 is sent
            endpoint.answering.set()
            await ended(client, "battle-003")
            await ended(client, (await client.submit(battle(4))).battle_id)
        await asyncio.to_thread(store.restore)
        if not kept:
            shutil.rmtree(data / NATS)

        async with platform(data, port) as running, AsyncClient(running.url) as client:
            assert (await client.battle("battle-003")).state == "running"
            blobs = Blobs(running.database)
            reconciling = reconciler(running.bus, running.database, blobs)
            assert (
                await reconciling.reconcile(datetime.now(UTC) + timedelta(minutes=20)) == 2
            )  # nuggetizer and judge
            assert (await ended(client, "battle-003")).state == "scored"
            assert (await client.submit(battle(4))).created  # its sender sends it again
            assert (await ended(client, "battle-004")).state == "scored"
            outcomes = Outcomes(running.database)
            lenses = (*INDEPENDENT, Lens.GROUNDED)
            async with asyncio.timeout(60):  # the rater may store the last one after the recorder
                while await outcomes.counts("test") != dict.fromkeys(Lens, 0) | dict.fromkeys(lenses, 5):
                    await asyncio.sleep(0.05)
            assert not any((await recount(running.database, repair=False)).values())
    # Replies that the backup has are not paid for again.
    assert Counter(endpoint.answered.values()) == {1: 3 * CALLS, 2: 2 * CALLS}
