"""A receiver of webhooks: a real HTTP server on loopback that answers as a test wants."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[["Arrived"], Awaitable[int]]


@dataclass(frozen=True)
class Arrived:
    """One request."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def name(self) -> tuple[str, int, str]:
        return (self.event["battle_id"], self.event["number"], self.event["kind"])


async def accept(_: Arrived) -> int:
    return 204


@dataclass
class Receiver:
    """What arrived, and how it is answered: by a status, or by no answer as long as the function waits."""

    answer: Answer = accept
    more_headers: str = ""
    port: int = 0
    arrived: list[Arrived] = field(default_factory=list)
    accepted: list[Arrived] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def kinds(self, battle_id: str = "tides") -> list[str]:
        return [each.event["kind"] for each in self.accepted if each.event["battle_id"] == battle_id]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await self._server.wait_closed()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition on what arrived."""
        async with asyncio.timeout(90):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")[1:-2]
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
                arrived = Arrived(headers, await reader.readexactly(int(headers["content-length"])))
                self.arrived.append(arrived)
                self._changed.set()
                status = await self.answer(arrived)
                if status < 300:
                    self.accepted.append(arrived)
                writer.write(f"HTTP/1.1 {status} x\r\n{self.more_headers}content-length: 0\r\n\r\n".encode())
                await writer.drain()
                self._changed.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


@asynccontextmanager
async def receiver(answer: Answer = accept, **options: Any) -> AsyncIterator[Receiver]:
    """A receiver that listens inside the block."""
    started = Receiver(answer, **options)
    await started.start()
    try:
        yield started
    finally:
        await started.stop()


def statuses(*listed: int) -> Answer:
    """Answers with these statuses in turn, and with the last one from then on."""
    left: Sequence[int] = list(listed)

    async def answer(_: Arrived) -> int:
        nonlocal left
        status, left = left[0], left[1:] or left
        return status

    return answer
