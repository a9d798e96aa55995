"""Starting where something is in the way: one line that says what, and which setting changes it."""

import asyncio
import signal
import socket
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import nats
import pytest
from sqlalchemy import text

from nuggetstream.client import AsyncClient, Client, Ended, Happened
from nuggetstream.client.following import Watched
from nuggetstream.domain.progress import BattleState
from services.cli.evaluation.demo_folder import claim
from services.cli.wiring.prepared import NotPrepared, require_streams, require_tables, wait_until_prepared
from services.runtime.bus import Bus, ensure, has_streams
from services.store.database import Database
from services.store.migrate import upgrade
from services.wire.topology import streams
from tests.brokers import Broker
from tests.databases import sqlite_url
from tests.e2e.battles import battle
from tests.e2e.ports import free_ports
from tests.e2e.processes import Process, clean_environment, run_command
from tests.forked import Forked, forked

LIGHT = clean_environment(embedding_model="none")
FREE = ("--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
_BANNER_ENDS = "Ctrl-C"


@asynccontextmanager
async def up(folder: Path) -> AsyncIterator[tuple[Forked, dict[str, str]]]:
    """A running platform, and its banner: what -> where."""
    child = await forked("up", "--data-dir", str(folder), *FREE, environment=LIGHT, stdout=PIPE)
    assert child.stdout is not None
    banner: dict[str, str] = {}
    try:
        while not (line := (await child.stdout.readline()).decode()).startswith(_BANNER_ENDS):
            assert line, "it ended before it was ready"
            what, _, where = line.strip().partition(" ")
            banner[where.partition("(")[2].rstrip(")") or what] = where.split()[0]
        yield child, banner
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
        await child.communicate()


async def test_a_second_process_does_not_share_a_data_folder(tmp_path: Path) -> None:
    async with up(tmp_path) as (first, banner):
        taken = str(urlsplit(banner["metrics"]).port)  # the folder is looked at before the ports
        ports = (*FREE, "--metrics-port", taken)
        code, output = await run_command(LIGHT, "up", "--data-dir", str(tmp_path), *ports)
        assert (code, output) == (1, f"Error: {tmp_path} is in use by process {first.pid}\n")
        async with AsyncClient(banner["pages"]) as client:
            assert (await client.submit_and_wait(battle(1))).state is BattleState.SCORED
        first.send_signal(signal.SIGKILL)
    async with up(tmp_path) as (_, banner), AsyncClient(banner["pages"]) as client:
        assert (await client.battle("battle-001")).state is BattleState.SCORED


async def test_a_demo_does_not_remove_the_state_of_one_that_runs(tmp_path: Path) -> None:
    claim(tmp_path)
    async with up(tmp_path / "state") as (first, _):
        (tmp_path / "results.jsonl").write_text("kept\n", encoding="utf-8")
        code, output = await run_command(LIGHT, "demo", "--out", str(tmp_path))
        assert code == 1
        assert f"Error: {tmp_path / 'state'} is in use by process {first.pid}\n" in output
        assert "Traceback" not in output
        assert (tmp_path / "results.jsonl").read_text(encoding="utf-8") == "kept\n"
        assert (tmp_path / "state" / "nats").is_dir()


async def test_up_is_healthy_from_the_moment_it_says_where_every_door_is(tmp_path: Path) -> None:
    async with up(tmp_path) as (_, banner), AsyncClient(banner["pages"]) as client:
        ready = await client.ready()
        assert (ready.status, list(ready.reasons)) == ("ok", [])
        for door in ("arena.v1.Arena", "arena.v1.Ratings", "arena.v1.ingest"):
            host, _, port = banner[door].removeprefix("nats://").partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
        token = (tmp_path / "nats" / "token").read_text(encoding="ascii").strip()
        assert token not in str(banner)
        connection = await nats.connect(banner["arena.v1.ingest"], token=token)
        await connection.close()
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "nuggetstream.db")}
        assert set(modes.values()) == {0o700, 0o600}
    log = (tmp_path / "nats" / "nats-server.log").read_text(encoding="utf-8")
    assert "[WRN]" not in log


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("option", ["http-port", "grpc-port", "metrics-port"])
async def test_a_taken_port_is_named_with_the_option_that_changes_it(
    tmp_path: Path, taken: int, option: str
) -> None:
    ports: Sequence[str] = (*FREE, f"--{option}", str(taken))  # the last one given holds
    code, output = await run_command(LIGHT, "up", "--data-dir", str(tmp_path), *ports)
    assert code == 1
    (said,) = [line for line in output.splitlines() if line.startswith("Error:")]
    assert f"cannot listen on 127.0.0.1:{taken}" in said
    assert said.endswith(f"choose another port with --{option}")
    assert "Traceback" not in output


async def test_a_service_does_not_call_itself_ready_without_streams_and_tables(
    bus: Bus, tmp_path: Path
) -> None:
    database = Database(sqlite_url(tmp_path / "record.db"))
    requirements = [partial(require_streams, bus), partial(require_tables, database)]

    async def prepared() -> bool:
        return await wait_until_prepared(requirements, asyncio.Event(), patience=0)

    with pytest.raises(NotPrepared, match=r"ARENA.* are missing: run `nuggetstream bootstrap`"):
        await prepared()
    await ensure(bus.js, streams())
    with pytest.raises(NotPrepared, match=r"no database .*record\.db: .*, or run `nuggetstream migrate`"):
        await prepared()
    assert not (tmp_path / "record.db").exists()  # asking made none
    (tmp_path / "record.db").touch()
    unapplied = r"lacks migration 0001(, [0-9]{4})*: run `nuggetstream migrate`"
    with pytest.raises(NotPrepared, match=unapplied):
        await prepared()
    await upgrade(database)
    assert await prepared()
    async with database.transaction() as tx:
        await tx.execute(text("DROP TABLE spend"))
    with pytest.raises(NotPrepared, match=r"'spend'.* restore a backup"):
        await prepared()
    await database.close()


async def test_a_service_waits_for_a_database_that_is_away_until_it_is_told_to_stop(
    bus: Bus,
) -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    await ensure(bus.js, streams())
    database, stop = (
        Database(f"postgresql+asyncpg://nobody@127.0.0.1:{free_ports(1)[0]}/none"),
        asyncio.Event(),
    )
    waiting = asyncio.create_task(wait_until_prepared([partial(require_tables, database)], stop, patience=0))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not done
    stop.set()
    assert not await waiting
    await database.close()


async def test_a_broker_that_refuses_the_streams_is_quoted_in_one_line(broker: Broker) -> None:
    environment = LIGHT | {"NUGGETSTREAM_NATS_URL": broker.url, "NUGGETSTREAM_NATS_REPLICAS": "3"}
    code, output = await run_command(environment, "bootstrap")
    refusal = "Error: the broker rejected the request: replicas > 1 not supported in non-clustered mode\n"
    assert (code, output) == (1, refusal)


async def test_the_recorder_declares_streams_that_the_broker_has_lost(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    path = tmp_path / "record.db"
    environment = LIGHT | {
        "NUGGETSTREAM_NATS_URL": broker.url,
        "NUGGETSTREAM_DATABASE_URL": f"sqlite+aiosqlite:///{path}",
    }
    for command in ("migrate", "bootstrap"):
        assert (await run_command(environment, command))[0] == 0
    ports = ("--grpc-port", "0", "--metrics-port", "0")
    recorder = Process("recorder", ports, environment, tmp_path / "recorder.log")
    await recorder.start()
    try:
        await recorder.ready()
        for stream in streams():
            await bus.js.delete_stream(stream.name)
        async with asyncio.timeout(60):
            while not await has_streams(bus.js, streams()):
                await asyncio.sleep(0.05)
            while "scraper" not in {info.name for info in await bus.js.consumers_info("ARENA")}:
                await asyncio.sleep(0.05)
    finally:
        await recorder.stop()


@pytest.mark.parametrize(
    ("command", "code", "last_words"),
    [
        (("bootstrap",), 130, "stopped before a broker at"),  # its work is not done
        (("serve", "recorder", "--grpc-port", "0"), 0, "stopping"),
    ],
)
async def test_what_is_waited_for_is_said_and_a_signal_ends_the_waiting(
    command: tuple[str, ...], code: int, last_words: str, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    settings = {
        "NUGGETSTREAM_NATS_URL": f"nats://127.0.0.1:{port}",
        "NUGGETSTREAM_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path / 'record.db'}",
    }
    child = await forked(*command, environment=LIGHT | settings, stderr=PIPE)
    assert child.stderr is not None
    try:
        said = (await child.stderr.readline()).decode()
        assert child.returncode is None
        assert "waiting for the broker" in said
        assert settings["NUGGETSTREAM_NATS_URL"] in said
        child.send_signal(signal.SIGTERM)
        _, rest = await child.communicate()
        assert child.returncode == code
        assert last_words in rest.decode().splitlines()[-1]
    finally:
        if child.returncode is None:
            child.kill()
            await child.communicate()


async def test_ctrl_c_ends_the_demo_without_an_error(tmp_path: Path) -> None:
    child = await forked("demo", "--out", str(tmp_path), environment=LIGHT, stdout=PIPE, stderr=PIPE)
    assert child.stdout is not None
    try:
        while b"battles: " not in (line := await child.stdout.readline()):
            assert line, "it ended before it evaluated"
        child.send_signal(signal.SIGINT)
        _, errors = await child.communicate()
        assert (child.returncode, errors.decode().count("\n")) == (130, 1), errors.decode()
        assert errors.startswith(b"stopping")
    finally:
        if child.returncode is None:
            child.kill()
            await child.communicate()


async def migrating(port: int, *options: str) -> Forked:
    url = f"postgresql+asyncpg://nobody@127.0.0.1:{port}/none"
    environment = LIGHT | {"NUGGETSTREAM_DATABASE_URL": url}
    return await forked("migrate", *options, environment=environment, stderr=PIPE)


async def test_migrate_waits_for_a_database_that_is_away_and_says_so() -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    (port,) = free_ports(1)
    child = await migrating(port)
    assert child.stderr is not None
    try:
        said = (await child.stderr.readline()).decode()
        assert "waiting" in said
        assert "the database" in said
        child.send_signal(signal.SIGTERM)
        _, rest = await child.communicate()
        assert child.returncode == 130
        assert rest.decode().splitlines()[-1] == "stopped before it was available"
    finally:
        if child.returncode is None:
            child.kill()
            await child.communicate()
    child = await migrating(port, "--no-wait")
    _, rest = await child.communicate()
    assert (child.returncode, "waiting" in rest.decode()) == (1, False)


async def test_the_client_of_the_library_follows_a_battle_through_the_whole_platform(tmp_path: Path) -> None:
    async with up(tmp_path) as (_, banner):

        def follow() -> tuple[list[str], Watched]:
            with Client(banner["pages"]) as client:
                results = list(client.submit_many(battle(number) for number in range(3)))
                assert [(result.status, result.battle_id) for result in results] == [
                    (202, f"battle-{number:03}") for number in range(3)
                ]
                *events, end = client.watch("battle-001")
                return [event.name for event in events if isinstance(event, Happened)], end

        names, end = await asyncio.to_thread(follow)
    assert isinstance(end, Ended)
    assert end.state is BattleState.SCORED
    # Labels and verdicts end a battle; what else is known of it may be recorded a moment later.
    assert {"assigned", "judged"} <= set(names)
