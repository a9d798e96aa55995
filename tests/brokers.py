"""One nats-server for all tests of a process, without any stream at the start of each."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nats

from services.runtime.nats_server import NatsServer


@dataclass(frozen=True)
class Broker:
    """Where to connect. A test that stops or suspends a nats-server takes `nats_server`, one of its own.

    Attributes:
        url: of the server.
        streams: the folder in which it keeps them.
    """

    url: str
    streams: Path


class ServerWithUsers(NatsServer):
    """A nats-server with users in place of the token."""

    users = ""  # the section `authorization` of its configuration

    def _config(self) -> str:
        return re.sub(r"authorization \{.*\}", lambda _: self.users, super()._config())

    @property
    def address(self) -> str:
        """Its URL without a token."""
        return "nats://" + self.url.rpartition("@")[2]


@contextmanager
def shared_broker(folder: Path) -> Iterator[Broker]:
    """A nats-server that outlives the event loops of tests: it belongs to a loop in a thread of its own."""
    url: Future[str] = Future()
    over = threading.Event()

    async def serve() -> None:
        try:
            async with NatsServer(folder, name="shared") as server:
                url.set_result(server.url)
                await asyncio.to_thread(over.wait)
        except BaseException as error:
            if url.done():
                raise
            url.set_exception(error)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="shared nats-server")
    thread.start()
    try:
        yield Broker(url.result(), folder / "store" / "jetstream" / "$G" / "streams")
    finally:
        over.set()
        thread.join()


async def delete_streams(broker: Broker) -> None:
    """Leave nothing of a test behind: streams go, and their consumers with them.

    The server answers before it has removed the files, from a folder that it renames to `.NAME`. A stream of
    the same name whose folder cannot be renamed, because the last one is still there, keeps its messages.
    """
    async with asyncio.timeout(60):
        await _until(lambda: not _folders(broker, ".*"))
        connection = await nats.connect(broker.url)
        try:
            js = connection.jetstream()
            for stream in await js.streams_info():
                await js.delete_stream(str(stream.config.name))
        finally:
            await connection.close()
        await _until(lambda: not _folders(broker, "*"))


def _folders(broker: Broker, pattern: str) -> list[Path]:
    """The folders of streams; none where the server removes their folder at this moment."""
    try:
        return list(broker.streams.glob(pattern))
    except FileNotFoundError:
        return []


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.002)
