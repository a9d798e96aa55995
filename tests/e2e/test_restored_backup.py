"""A backup is restored beside streams that are newer: nothing is doubled, and what is missing runs again."""

import asyncio
import shutil
import sqlite3
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
from services.cli import embedded
from services.recorder.reconciler import reconciler
from services.store.blobs import Blobs
from services.store.outbox import Outbox
from services.store.outcomes import Outcomes
from services.store.recount import recount
from services.wire import topology
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.postgresql import embedded_on, postgresql, run_program
from tests.e2e.with_model import ended, platform, until

CALLS = 5  # per battle


class Sqlite:
    """The database of `up`, in its data folder."""

    def __init__(self, folder: Path) -> None:
        self._database, self._backup = folder / "nuggetstream.db", folder / "backup"

    def back_up(self) -> None:
        """As the manual says, while the platform runs."""
        connection = sqlite3.connect(self._database)
        connection.execute("VACUUM INTO ?", (str(self._backup),))
        connection.close()

    def restore(self) -> None:
        for old in self._database.parent.glob(f"{self._database.name}*"):
            old.unlink()
        shutil.copy(self._backup, self._database)


class Postgresql:
    """A database of a server; the backup is restored as another database, as the manual says."""

    def __init__(self, folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self._server, self._monkeypatch = server, monkeypatch
        self._file, self._uri = str(folder / "nuggetstream.dump"), server.get_uri()
        embedded_on(monkeypatch, self._uri)

    def back_up(self) -> None:
        options = ("--format=custom", "--no-unlogged-table-data", f"--file={self._file}")
        run_program(self._server, "pg_dump", *options, self._uri)

    def restore(self) -> None:
        self._server.psql("CREATE DATABASE restored;")
        restored = make_url(self._uri).set(database="restored").render_as_string(hide_password=False)
        options = ("--exit-on-error", "--no-owner", f"--dbname={restored}")
        run_program(self._server, "pg_restore", *options, self._file)
        embedded_on(self._monkeypatch, restored)


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
async def test_a_platform_goes_on_from_a_backup(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "streams", streams)
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    async with endpoint.listening(port):
        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
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
        store.restore()

        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
            assert (await client.battle("battle-003")).state == "running"
            blobs = Blobs(running.database)
            reconciling = reconciler(running.bus, running.database, blobs, quiet_after=900.0)
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
