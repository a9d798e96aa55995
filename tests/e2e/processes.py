"""Every service as its own process, as on a cluster, for tests that kill them."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from click.testing import CliRunner

from services.cli.main import main
from services.cli.wiring.registry import SERVICES
from services.runtime.nats_server import NatsServer
from tests.brokers import ServerWithUsers
from tests.e2e.ports import free_ports
from tests.forked import COMMAND, Forked, forked

IMPATIENT = str(Path(__file__).with_name("impatient.py"))
_READY = b"serving"
_OURS = ("NUGGETSTREAM_", "OPENAI_")


@dataclass
class Process:
    """One service process; its log is read until it serves."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    begin: Callable[..., Awaitable[Forked | asyncio.subprocess.Process]] = forked
    child: Forked | asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.child = await self.begin(
                "serve", self.name, *self.arguments, environment=self.environment, stdout=log, stderr=log
            )

    async def ready(self) -> None:
        async with asyncio.timeout(120):
            while _READY not in self.log.read_bytes():
                assert self.child is not None
                assert self.child.returncode is None, self.log.read_text()
                await asyncio.sleep(0.05)

    @property
    def metrics_port(self) -> int:
        """The port that its log names."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(encoding="utf-8"))
        named = re.search(r"metrics=(\d+)", plain)
        assert named is not None, plain
        return int(named[1])

    async def kill(self) -> None:
        assert self.child is not None
        self.child.send_signal(signal.SIGKILL)
        await self.child.wait()
        self.log.write_bytes(b"")

    async def stop(self) -> int:
        assert self.child is not None
        if self.child.returncode is None:
            self.child.send_signal(signal.SIGTERM)
        async with asyncio.timeout(90):
            return await self.child.wait()


@dataclass
class Platform:
    """All nine services."""

    url: str
    processes: dict[str, Process]
    database_url: str
    exit_codes: dict[str, int] = field(default_factory=dict)


async def run_command(environment: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command; one that waits for batches looks at them often."""
    module = IMPATIENT if "--batch" in arguments else COMMAND
    child = await forked(*arguments, environment=environment, stdout=PIPE, stderr=STDOUT, module=module)
    output, _ = await child.communicate()
    return child.returncode or 0, output.decode()


def run_here(*arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> tuple[int, str]:
    """What a command would answer, without the seconds that a process takes to start: code and output."""
    ours = {name: None for name in os.environ if name.startswith(_OURS)}
    result = CliRunner(env={**ours, **environment}).invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def clean_environment(**settings: str) -> dict[str, str]:
    """This process's environment without settings of ours, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return kept | _variables(settings)


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"NUGGETSTREAM_{name.upper()}": value for name, value in settings.items()}


@asynccontextmanager
async def separate_processes(
    folder: Path,
    begin: Callable[..., Awaitable[Forked | asyncio.subprocess.Process]] = forked,
    broker: NatsServer | None = None,
    own: Callable[[str], Mapping[str, str]] = lambda _: {},
    **settings: str,
) -> AsyncIterator[Platform]:
    """Broker, database and every service, each in its own process, until the block ends.

    Args:
        folder: Where they keep their files.
        begin: Starts a process.
        broker: A broker of the test's own, which is not started yet.
        own: Settings of a service alone, by its name. Commands have those of the recorder.
        settings: Further or other settings by name, without the prefix of their variables.
    """
    ports = free_ports(len(SERVICES) + 1)
    grpc = dict(zip(SERVICES, ports, strict=False))
    async with AsyncExitStack() as stack:
        server: NatsServer = await stack.enter_async_context(broker or NatsServer(folder / "nats"))
        usual = {
            "nats_url": server.address if isinstance(server, ServerWithUsers) else server.url,
            "database_url": f"sqlite+aiosqlite:///{folder / 'record.db'}",
            "embedding_model": "none",
            "indexer_address": f"127.0.0.1:{grpc['indexer']}",
            "rater_address": f"127.0.0.1:{grpc['rater']}",
            "grace": "5",
        }
        environment = clean_environment(**usual | settings)
        for command in ("migrate", "bootstrap"):
            code, output = await run_command(environment | _variables(own("recorder")), command)
            assert code == 0, output
        processes = {
            name: Process(
                name,
                ("--grpc-port", str(port), "--metrics-port", "0", "--http-port", str(ports[-1])),
                environment | _variables(own(name)),
                folder / f"{name}.log",
                begin,
            )
            for name, port in grpc.items()
        }
        platform = Platform(
            f"http://127.0.0.1:{ports[-1]}", processes, environment["NUGGETSTREAM_DATABASE_URL"]
        )
        try:
            for process in processes.values():
                await process.start()
            for process in processes.values():
                await process.ready()
            yield platform
        finally:
            alive = {key: process for key, process in processes.items() if process.child is not None}
            codes = await asyncio.gather(*(process.stop() for process in alive.values()))
            platform.exit_codes = dict(zip(alive, codes, strict=True))
