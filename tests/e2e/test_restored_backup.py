"""A backup is restored beside streams that are newer: nothing is doubled, and what is missing runs again."""

import shutil
import sqlite3
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import Lens
from services.cli import embedded
from services.recorder.reconciler import reconciler
from services.store.blobs import Blobs
from services.store.outcomes import Outcomes
from services.store.recount import recount
from services.wire import topology
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.with_model import ended, platform, until

CALLS = 5  # per battle


def back_up(database: Path, backup: Path) -> None:
    """As the manual says, while the platform runs."""
    connection = sqlite3.connect(database)
    connection.execute("VACUUM INTO ?", (str(backup),))
    connection.close()


def restore(database: Path, backup: Path) -> None:
    for old in database.parent.glob(f"{database.name}*"):
        old.unlink()
    shutil.copy(backup, database)


def streams(**options: Any) -> list[Any]:
    """The streams, which recognise duplicates for a second and not for ten minutes."""
    return [replace(stream, duplicate_window=1.0) for stream in topology.streams(**options)]


@pytest.mark.timeout(300)
async def test_a_platform_goes_on_from_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "streams", streams)
    (port,) = free_ports(1)
    endpoint, database, backup = ModelEndpoint(), tmp_path / "nuggetstream.db", tmp_path / "backup"
    async with endpoint.listening(port):
        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
            for number in range(3):
                await ended(client, (await client.submit(battle(number))).battle_id)
            endpoint.answering.clear()
            await client.submit(battle(3))
            await until(lambda: endpoint.answered.total() > 3 * CALLS)
            back_up(database, backup)  # while battle 3 waits for the model, and before battle 4 is sent
            endpoint.answering.set()
            await ended(client, "battle-003")
            await ended(client, (await client.submit(battle(4))).battle_id)
        restore(database, backup)

        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
            assert (await client.battle("battle-003")).state == "running"
            blobs = Blobs(running.database)
            reconciling = reconciler(running.bus, running.database, blobs, quiet_after=900.0)
            assert await reconciling.reconcile(datetime.now(UTC) + timedelta(minutes=20)) == 1
            assert (await ended(client, "battle-003")).state == "scored"
            assert (await client.submit(battle(4))).created  # its sender sends it again
            assert (await ended(client, "battle-004")).state == "scored"
            outcomes = Outcomes(running.database)
            assert await outcomes.counts("test") == dict.fromkeys(Lens, 5)
            assert not any((await recount(running.database, repair=False)).values())
    # Replies that the backup has are not paid for again.
    assert Counter(endpoint.answered.values()) == {1: 3 * CALLS, 2: 2 * CALLS}
