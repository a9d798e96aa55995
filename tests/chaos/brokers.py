"""One nats-server, or three that form a cluster, each with a folder of its own."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import nats.errors

from services.cli.wiring.prepared import NotPreparedYet, require_streams
from services.runtime.broker_token import TOKEN, private_folder, write_private
from services.runtime.bus import Bus, BusSettings, ensure
from services.runtime.nats_server import NatsServer
from services.wire.topology import consumers, streams
from tests.e2e.ports import free_ports


class _Member(NatsServer):
    """A nats-server of a cluster."""

    def __init__(self, folder: Path, name: str, port: int, routes: list[int]) -> None:
        super().__init__(folder, name=name, ready_within=60.0)
        peers = ", ".join(f'"nats-route://127.0.0.1:{route}"' for route in routes)
        self._cluster = f'cluster {{ name: chaos, listen: "127.0.0.1:{port}", routes: [{peers}] }}\n'

    def _config(self) -> str:
        return super()._config() + self._cluster


@asynccontextmanager
async def brokers(folders: Mapping[str, Path]) -> AsyncIterator[dict[str, NatsServer]]:
    """Start brokers, one alone or several as a cluster, until the block ends.

    Args:
        folders: The folder of each broker, by its name.
    """
    token, ports = secrets.token_urlsafe(32), free_ports(len(folders))
    for folder in folders.values():
        private_folder(folder)
        write_private(folder / TOKEN, token)
    servers: dict[str, NatsServer] = {
        name: NatsServer(folder, name=name)
        if len(folders) == 1
        else _Member(folder, name, port, [other for other in ports if other != port])
        for (name, folder), port in zip(folders.items(), ports, strict=True)
    }
    async with AsyncExitStack() as stack:
        for server in servers.values():
            stack.push_async_callback(server.stop)
        await asyncio.gather(*(server.start() for server in servers.values()))
        yield servers


async def declared(servers: tuple[str, ...]) -> None:
    """Wait until a cluster that has just been started has all streams."""
    async with Bus.connect(BusSettings(servers=servers, name="test")) as bus, asyncio.timeout(120):
        while True:
            with suppress(nats.errors.Error, NotPreparedYet):
                await ensure(bus.js, streams(3), consumers())
                return await require_streams(bus)
            await asyncio.sleep(0.2)
